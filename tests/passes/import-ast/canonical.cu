// Conversions, counted loops and index arithmetic in their canonical form.
__global__ void indices(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float *row = in + i * 4;
  float sum = 0;
  for (int k = 0; k < 4; k++) sum += row[k];
  for (int k = 3; k >= 0; --k) sum *= row[k];
  for (int k = i; k < n; k += gridDim.x) sum -= 1;
  for (unsigned k = 0; k != 8; k += 2) sum += 0.1;
  out[i] = sum / 2;
}

struct Point { float x; int id; };
__device__ float weight(float v, float scale = 2) { if (v < 0) return 0; return v * scale; }
__global__ void records(Point *p, float4 *v) {
  __shared__ float tile[2][8];
  tile[threadIdx.y][threadIdx.x] = weight(p[threadIdx.x].x);
  __syncthreads();
  p[threadIdx.x].id += tile[1 - threadIdx.y][threadIdx.x] > 1.5f;
  float4 q = v[blockIdx.x];
  q.w = q.x;
  v[blockIdx.x] = q;
}

template <typename T> __global__ void bump(T *a) { a[threadIdx.x]++; }
void instances() { (void)&bump<unsigned char>; (void)&bump<double>; }
