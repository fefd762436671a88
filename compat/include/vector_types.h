// CUDA's built-in vector types: plain aggregates, aligned as CUDA aligns them.
#ifndef TM_VECTOR_TYPES_H
#define TM_VECTOR_TYPES_H

struct char1 { signed char x; };
struct __attribute__((aligned(2))) char2 { signed char x; signed char y; };
struct char3 { signed char x; signed char y; signed char z; };
struct __attribute__((aligned(4))) char4 { signed char x; signed char y; signed char z; signed char w; };
struct uchar1 { unsigned char x; };
struct __attribute__((aligned(2))) uchar2 { unsigned char x; unsigned char y; };
struct uchar3 { unsigned char x; unsigned char y; unsigned char z; };
struct __attribute__((aligned(4))) uchar4 { unsigned char x; unsigned char y; unsigned char z; unsigned char w; };
struct short1 { short x; };
struct __attribute__((aligned(4))) short2 { short x; short y; };
struct short3 { short x; short y; short z; };
struct __attribute__((aligned(8))) short4 { short x; short y; short z; short w; };
struct ushort1 { unsigned short x; };
struct __attribute__((aligned(4))) ushort2 { unsigned short x; unsigned short y; };
struct ushort3 { unsigned short x; unsigned short y; unsigned short z; };
struct __attribute__((aligned(8))) ushort4 { unsigned short x; unsigned short y; unsigned short z; unsigned short w; };
struct int1 { int x; };
struct __attribute__((aligned(8))) int2 { int x; int y; };
struct int3 { int x; int y; int z; };
struct __attribute__((aligned(16))) int4 { int x; int y; int z; int w; };
struct uint1 { unsigned int x; };
struct __attribute__((aligned(8))) uint2 { unsigned int x; unsigned int y; };
struct uint3 { unsigned int x; unsigned int y; unsigned int z; };
struct __attribute__((aligned(16))) uint4 { unsigned int x; unsigned int y; unsigned int z; unsigned int w; };
struct long1 { long x; };
struct __attribute__((aligned(16))) long2 { long x; long y; };
struct long3 { long x; long y; long z; };
struct __attribute__((aligned(16))) long4 { long x; long y; long z; long w; };
struct ulong1 { unsigned long x; };
struct __attribute__((aligned(16))) ulong2 { unsigned long x; unsigned long y; };
struct ulong3 { unsigned long x; unsigned long y; unsigned long z; };
struct __attribute__((aligned(16))) ulong4 { unsigned long x; unsigned long y; unsigned long z; unsigned long w; };
struct longlong1 { long long x; };
struct __attribute__((aligned(16))) longlong2 { long long x; long long y; };
struct longlong3 { long long x; long long y; long long z; };
struct __attribute__((aligned(16))) longlong4 { long long x; long long y; long long z; long long w; };
struct ulonglong1 { unsigned long long x; };
struct __attribute__((aligned(16))) ulonglong2 { unsigned long long x; unsigned long long y; };
struct ulonglong3 { unsigned long long x; unsigned long long y; unsigned long long z; };
struct __attribute__((aligned(16))) ulonglong4 { unsigned long long x; unsigned long long y; unsigned long long z; unsigned long long w; };
struct float1 { float x; };
struct __attribute__((aligned(8))) float2 { float x; float y; };
struct float3 { float x; float y; float z; };
struct __attribute__((aligned(16))) float4 { float x; float y; float z; float w; };
struct double1 { double x; };
struct __attribute__((aligned(16))) double2 { double x; double y; };
struct double3 { double x; double y; double z; };
struct __attribute__((aligned(16))) double4 { double x; double y; double z; double w; };

struct dim3 {
  unsigned int x, y, z;
  constexpr __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr __host__ __device__ operator uint3() const { return uint3{x, y, z}; }
};

#endif
