// Device functions on the host, against definitions of their own.
#include <cstdio>
#include <cstdlib>

#include "tm_cuda_prelude.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_pipeline.h"

typedef __float128 Wide;
static int failures = 0;
#define CHECK(condition) \
  if (!(condition) && ++failures < 20) std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition)

static unsigned word() { return (unsigned)rand() << 16 ^ (unsigned)rand(); }
template <class T> static T number() { return (T)ldexp((double)(int)word(), rand() % 40 - 30); }

// Down and up enclose the exact value and are neighbours; towards zero is one of them.
template <class T> static bool encloses(Wide exact, T down, T up, T zero) {
  return down <= exact && exact <= up && (down == exact ? up == down : nextafter(down, (T)INFINITY) == up) &&
         zero == (exact < 0 ? up : down);
}
#define ROUNDED(NAME, EXACT, ...) \
  CHECK(encloses(EXACT, NAME##_rd(__VA_ARGS__), NAME##_ru(__VA_ARGS__), NAME##_rz(__VA_ARGS__)))

template <class T> static bool is_root(Wide v, T down, T up) {
  return (Wide)down * down <= v && v <= (Wide)up * up && (down == up || nextafter(down, (T)INFINITY) == up);
}

static void rounding() {
  for (int i = 0; i < 20000; ++i) {
    float a = number<float>(), b = number<float>(), c = number<float>();
    double p = number<double>(), q = number<double>() + a;
    ROUNDED(__fadd, (Wide)a + b, a, b);
    ROUNDED(__fsub, (Wide)a - b, a, b);
    ROUNDED(__fmul, (Wide)a * b, a, b);
    ROUNDED(__fmaf, (Wide)a * b + c, a, b, c);
    ROUNDED(__dadd, (Wide)p + q, p, q);
    ROUNDED(__dsub, (Wide)p - q, p, q);
    ROUNDED(__dmul, (Wide)p * q, p, q);
    if (b) {
      ROUNDED(__fdiv, (Wide)a / b, a, b);
      ROUNDED(__frcp, (Wide)1 / b, b);
    }
    if (q) {
      ROUNDED(__ddiv, (Wide)p / q, p, q);
      ROUNDED(__drcp, (Wide)1 / q, q);
    }
    CHECK(is_root<float>(fabsf(a), __fsqrt_rd(fabsf(a)), __fsqrt_ru(fabsf(a))));
    CHECK(is_root<double>(fabs(p), __dsqrt_rd(fabs(p)), __dsqrt_ru(fabs(p))));
    unsigned long long wide = (unsigned long long)word() << 32 | word();
    ROUNDED(__double2float, (Wide)q, q);
    ROUNDED(__int2float, (Wide)(int)wide, (int)wide);
    ROUNDED(__uint2float, (Wide)(unsigned)wide, (unsigned)wide);
    ROUNDED(__ll2float, (Wide)(long long)wide, (long long)wide);
    ROUNDED(__ull2float, (Wide)wide, wide);
    ROUNDED(__ll2double, (Wide)(long long)wide, (long long)wide);
    ROUNDED(__ull2double, (Wide)wide, wide);
  }
  CHECK(__fadd_rz(3e38f, 3e38f) == 3.40282347e38f && __fadd_ru(3e38f, 3e38f) == INFINITY);
  CHECK(0.1f + 0.2f == __fadd_rn(0.1f, 0.2f));
}

static void lanes() {
  CHECK(__vadd2(0x7fffffffu, 0x00010001u) == 0x80000000u);
  CHECK(__vaddss2(0x7fff8000u, 0x0001ffffu) == 0x7fff8000u);
  CHECK(__vaddus4(0xff01fe00u, 0x02020202u) == 0xff03ff02u);
  CHECK(__vsubus4(0x01ff0002u, 0x02010001u) == 0x00fe0001u);
  CHECK(__vabs4(0x80ff01feu) == 0x80010102u && __vabsss4(0x80ff01feu) == 0x7f010102u);
  CHECK(__vneg2(0x80000001u) == 0x8000ffffu && __vnegss2(0x80000001u) == 0x7fffffffu);
  CHECK(__vabsdiffs4(0x80000000u, 0x7f000001u) == 0xff000001u && __vabsdiffu2(0x00010005u, 0x00030002u) == 0x20003u);
  CHECK(__vcmpgts4(0x01ff0080u, 0x00000000u) == 0xff000000u && __vcmpgtu4(0x01ff0080u, 0u) == 0xffff00ffu);
  CHECK(__vseteq2(0x12345678u, 0x12340678u) == 0x00010000u && __vsetlts4(0x80u, 0u) == 1u);
  CHECK(__vsads4(0x80ff0001u, 0x7f000000u) == 255u + 1u + 0u + 1u && __vsadu2(0x00010005u, 0x00030002u) == 5u);
  for (int i = 0; i < 20000; ++i) {
    unsigned a = word(), b = word(), high = 0, low = 0, average = 0, half = 0;
    int dot = 7, dot_high = 7;
    for (int k = 0; k < 4; ++k) {
      int x = (signed char)(a >> 8 * k), y = (signed char)(b >> 8 * k);
      unsigned u = a >> 8 * k & 255, v = b >> 8 * k & 255;
      high |= (unsigned)((x > y ? x : y) & 255) << 8 * k;
      low |= (u < v ? u : v) << 8 * k;
      average |= (u + v + 1) / 2 << 8 * k;
      half |= (u + v) / 2 << 8 * k;
      (k < 2 ? dot : dot_high) += (short)(a >> 16 * (k & 1)) * y;
    }
    CHECK(__vmaxs4(a, b) == high && __vminu4(a, b) == low);
    CHECK(__vavgu4(a, b) == average && __vhaddu4(a, b) == half);
    CHECK(__dp2a_lo((int)a, (int)b, 7) == dot && __dp2a_hi((int)a, (int)b, 7) == dot_high);
    CHECK(__vsub4(__vadd4(a, b), b) == a && __vsub2(__vadd2(a, b), b) == a);
  }
  CHECK(__vimax3_s32(-3, 9, 4) == 9 && __vimin3_u32(7, ~0u, 8) == 7 && __vimax3_s32_relu(-3, -2, -9) == 0);
  CHECK(__viaddmax_s32(2, 3, 4) == 5 && __viaddmin_u32(2, 3, 4) == 4 && __vimin_s32_relu(-1, 4) == 0);
}

static void halves() {
  for (unsigned i = 0; i < 0x7bffu; ++i) {
    float low = __ushort_as_half((unsigned short)i), high = __ushort_as_half((unsigned short)(i + 1));
    float between = low + (high - low) * 0.75f;
    CHECK((float)__float2half_rd(between) == low && (float)__float2half_ru(between) == high);
    CHECK((float)__float2half_rd(-between) == -high && (float)__float2half_rz(-between) == -low);
    CHECK((float)__float2half_ru(low) == low && (float)__float2half_rd(low) == low);
  }
  CHECK((float)__float2half_rz(1e6f) == 65504.0f && (float)__float2half_ru(1e6f) == INFINITY);
  CHECK(__half_as_ushort(__float2half_ru(1e-30f)) == 1 && __half_as_ushort(__float2half_rd(-1e-30f)) == 0x8001);
  __half a(3.0f), b(-4.0f), nan = __ushort_as_half(0x7e00);
  CHECK((float)__hadd_sat(a, b) == 0.0f && (float)__hsub_sat(a, b) == 1.0f && (float)__hmul_sat(nan, a) == 0.0f);
  CHECK((float)__hfma_relu(a, b, a) == 0.0f && __hisnan(__hfma_relu(nan, a, b)) && (float)__hfma_sat(a, b, __half(12.5f)) == 0.5f);
  CHECK((float)__hfma_relu(__nv_bfloat16(2.0f), __nv_bfloat16(3.0f), __nv_bfloat16(1.0f)) == 7.0f);
  CHECK(__half2short_rz(__half(-40000.0f)) == -32768 && __half2ushort_rn(b) == 0 && __half2short_rn(nan) == 0);
  CHECK(__half2short_rn(__half(2.5f)) == 2 && __half2uint_rz(__half(2.5f)) == 2u && __half2ll_rz(b) == -4);
  __half2 p(a, b), q(a, a);
  float2 equal = __half22float2(__heq2(p, q));
  CHECK(equal.x == 1.0f && equal.y == 0.0f && !__hbeq2(p, q) && __hble2(p, q) && !__hblt2(p, q));
  CHECK((float)__lows2half2(p, q).y == 3.0f && (float)__highs2half2(p, q).x == -4.0f);
  CHECK((float)h2rcp(p).y == -0.25f && (float)h2floor(__half2(__half(1.5f), b)).x == 1.0f);
}

int main() {
  rounding();
  lanes();
  halves();
  char from[16] = "0123456789abcde", to[16];
  __pipeline_memcpy_async(to, from, 16, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  CHECK(to[11] == 'b' && to[12] == 0 && to[15] == 0);
  return failures != 0;
}
