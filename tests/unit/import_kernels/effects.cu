// Side effects in expressions, sequencing, short-circuit, comma.
__global__ void effects(int *a, int *b, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  int k = i, j = 3;
  b[i] = k++ + 10 * k--;
  k = i;
  int r = (a[i] > 0 && ++k > 5) || (j++ && a[i] < -5);
  b[i + 100] = r * 10000 + k * 100 + j;
  int q;
  b[i + 200] = (q = a[i], q += 2, q * q);
  b[i + 300] = a[i] > 3 ? (k += 7) : (j -= 9);
  b[i + 400] = k * 1000 + j;
  int x = 5;
  x += x++ * 2;
  b[i + 500] = x;
  int y, z;
  y = z = a[i] & 15;
  b[i + 600] = y + z;
  a[i + 100] = (x = 3) + (y = 4) * (z = 5);
  int m = 0;
  while (m++ < (a[i] & 7)) { if (m == 3) continue; x += m; if (m > 5) break; }
  a[i + 200] = x + m;
  do { x -= 3; if (x & 1) continue; y += x; } while (--m > 0 && x > -50);
  a[i + 300] = x * 100 + y;
  for (int p = 0, s = 10; p < s; p++, s--) x += p * s;
  a[i + 400] = x;
  unsigned char uc = 250;
  a[i + 500] = (uc += 10) + uc++ + ++uc;
  a[i + 600] = (n > 5, n) + (i, 2);
  int arr[4] = {1, 2};
  int t = 0;
  arr[t++] += 5;
  arr[t++] = arr[t - 1] + t;
  b[i + 700] = arr[0] * 1000 + arr[1] * 100 + arr[2] * 10 + arr[3] + t;
  t = 1;
  b[i + 800] = arr[t] + arr[--t] + t;
}

__global__ void switches(int *a, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  int r = 0;
  switch (a[i] & 7) {
    case 0: r = 1; break;
    case 1:
    case 2: r = 2;
    case 3: r += 10; break;
    default: r = 99;
    case 5: r += 5; if (i & 1) break; r += 100; break;
    case 6: { int q = i; r = q; }
  }
  switch (n & 3) { case 1: r += 7; break; case 2: r -= 7; break; default: r *= 2; }
  switch (i) { case 4: a[i + 300] = 3; return; case 5: break; }
  for (int j = 0; j < 5; j++) {
    switch (j) { case 2: continue; case 4: r += 1000; }
    r += j;
  }
  a[i + 100] = r;
}

__global__ void loops(int *a, unsigned *u, int n, unsigned m) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  int s = 0, j;
  for (j = 0; j < n; j++) { s += j; if (s > 300) break; }
  a[i] = s * 100 + j;
  for (int k = n; k >= 0; --k) s += k;
  for (int k = 10; k != 0; k -= 2) s ^= k;
  for (unsigned k = m; k > 0; k--) s += k;
  for (unsigned k = m; k-- > 0;) s += k * 2;
  for (int k = 0; k <= n; k += 3) s -= k;
  for (int k = 1; k < n; k <<= 1) s += k;
  for (int k = 0; k < (int)blockDim.x; ++k) s += k;
  for (int k = 0; k < blockDim.x; ++k) s += k;
  for (int k = i; k < n; k += blockDim.x) s += 3;
  for (int k = 0; k < n; ++k) { if (k == 5) n -= 3; s += k; }
  for (int k = 0; k < 20; ++k) { if (k == 5) k += 3; s += k; }
  for (size_t k = 0; k < n; ++k) s += (int)k;
  for (char c = 0; c < 10; c++) s += c;
  for (short c = 0; c < n; c++) s += c;
  for (int k = 0; k < u[i] % 9; ++k) { s += k; u[i] = 3; }
  for (int k = -3; k < 3u; ++k) s += 1000;
  for (;;) { if (++s % 17 == 0) break; }
  for (int k = 0; ; k++) { if (k > 3) break; for (int l = 0; l < 3; ++l) { if (l == k) continue; s += l; } }
  int values[3] = {4, 5, 6};
  for (int v : values) s += v;
  for (int &v : values) v += s;
  a[i + 100] = s + values[2];
  int depth = 0;
  while (true) { if (depth++ > n % 7) break; if (depth & 1) continue; s += depth; }
  a[i + 200] = s;
  if (int q = a[i] & 3) a[i + 300] = q; else a[i + 300] = -1;
  if (i % 5 == 0) return;
  a[i + 400] = s;
}
