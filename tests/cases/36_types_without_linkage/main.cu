namespace { struct P { int a; }; }
__device__ P sym; __constant__ P con[4];
__global__ void k(P *p) { p[threadIdx.x].a = threadIdx.x; }
int main() { P *p, h; void *v; size_t n; int b, g; cudaFuncAttributes at; cudaMalloc(&p, 1024); P *q, *r, *s;
 cudaMallocHost(&q, 1024); cudaMallocManaged(&r, 1024); cudaHostAlloc(&s, 1024, 0); cudaMallocPitch(&r, &n, 4, 4); cudaMallocAsync(&r, 5, nullptr); cudaHostGetDevicePointer(&r, s, 0);
 cudaMemcpyToSymbol(sym, &h, sizeof h); cudaMemcpyFromSymbol(&h, sym, sizeof h); cudaMemcpyToSymbolAsync(con, &h, 4, 0, cudaMemcpyHostToDevice, 0); cudaGetSymbolAddress(&v, con); cudaGetSymbolSize(&n, con);
 cudaFuncGetAttributes(&at, k); cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 100); cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1);
 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, k, 32, 0); cudaOccupancyMaxPotentialBlockSize(&g, &b, k, 0, 0);
 void *args[] = {&p}; cudaLaunchKernel(k, dim3(1), dim3(32), args, 0, 0); cudaLaunchCooperativeKernel(k, dim3(1), dim3(32), args, 0, 0);
 k<<<1, 32>>>(p); return cudaDeviceSynchronize(); }
