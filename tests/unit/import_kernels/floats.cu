// Rounding, NaN, conversions, literals.
__global__ void single(float *a, float *b, double *d, float s, double t) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  float x = a[i], y = b[i];
  a[i + 100] = (x + y) - x;
  a[i + 200] = x * y + s;
  a[i + 300] = x * 0.1 + y * 0.1f;
  a[i + 400] *= d[i];
  a[i + 500] += 1;
  b[i + 100] = x != x ? 1.0f : x == y ? 2.0f : x < y ? 3.0f : !(x >= y) ? 4.0f : 5.0f;
  d[i + 100] = x / 3 + t / 7.0;
  d[i + 200] = 0.1234567890123456789 * d[i] + 0x1.8p-3;
  d[i + 300] = -x + -0.0f + 1e-310;
  b[i + 200] = -d[i];
  b[i + 300] = (bool)x + (x ? 2 : 3) + (x && y);
  b[i + 400] = sqrtf(x * x) + fabsf(y) + fminf(x, y) + fmaxf(x, s) + floorf(x) + fmodf(x, 3.0f);
  d[i + 400] = pow(d[i], 2.0) + exp(t) + sqrt(d[i]) + fabs(d[i]) + rsqrtf(y) + __expf(s);
  b[i + 500] = fmaf(x, y, s) + powf(fabsf(x), 0.5f) + isnan(x) + isinf(y) + INFINITY;
  b[i + 600] = __int_as_float(__float_as_int(x) ^ 0x80000000);
  a[i + 600] = i > 40 ? NAN : 16777217;
  d[i + 500] = 16777217 + 3.4028235e38f * 10;
}

__global__ void to_integer(int *a, const float *f, const double *d, unsigned char *u, long long *l) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  float x = fabsf(f[i]) < 1000.0f ? f[i] : 1.5f;
  a[i] = x;
  a[i] += x;
  a[i] *= 1.5;
  u[i] = (int)(x * x) & 255;
  l[i] = x * 1e9;
  l[i + 100] = (int)d[i] == d[i];
  a[i + 100] = x > 0;
  a[i + 200] = (int)x + (unsigned)fabsf(x);
}
