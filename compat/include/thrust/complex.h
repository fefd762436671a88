// thrust::complex: storage and the arithmetic that one definition fixes; the rest is declared so that it
// is found and typed by name.
#ifndef TM_THRUST_COMPLEX_H
#define TM_THRUST_COMPLEX_H
#include "tm_thrust.h"
#define TM_BOTH __host__ __device__
namespace thrust {
template <class T> struct complex {
  typedef T value_type;
  T tm_re, tm_im;
  TM_BOTH complex(const T &re = T(), const T &im = T()) : tm_re(re), tm_im(im) {}
  template <class U> TM_BOTH complex(const complex<U> &z) : tm_re((T)z.real()), tm_im((T)z.imag()) {}
  TM_BOTH T real() const { return tm_re; }
  TM_BOTH T imag() const { return tm_im; }
  TM_BOTH void real(T v) { tm_re = v; }
  TM_BOTH void imag(T v) { tm_im = v; }
  TM_BOTH complex &operator=(const T &re) { tm_re = re; tm_im = T(); return *this; }
  TM_BOTH complex &operator+=(const complex &z) { tm_re += z.tm_re; tm_im += z.tm_im; return *this; }
  TM_BOTH complex &operator-=(const complex &z) { tm_re -= z.tm_re; tm_im -= z.tm_im; return *this; }
  TM_BOTH complex &operator*=(const complex &z);
  TM_BOTH complex &operator/=(const complex &z);
  TM_BOTH complex &operator*=(const T &v) { tm_re *= v; tm_im *= v; return *this; }
  TM_BOTH complex &operator/=(const T &v);
};
template <class T> TM_BOTH complex<T> operator+(const complex<T> &a, const complex<T> &b) { complex<T> r(a); r += b; return r; }
template <class T> TM_BOTH complex<T> operator-(const complex<T> &a, const complex<T> &b) { complex<T> r(a); r -= b; return r; }
template <class T> TM_BOTH complex<T> operator-(const complex<T> &a) { return complex<T>(-a.real(), -a.imag()); }
template <class T> TM_BOTH complex<T> operator*(const complex<T> &a, const complex<T> &b);
template <class T> TM_BOTH complex<T> operator/(const complex<T> &a, const complex<T> &b);
template <class T> TM_BOTH bool operator==(const complex<T> &a, const complex<T> &b) { return a.real() == b.real() && a.imag() == b.imag(); }
template <class T> TM_BOTH bool operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
#define TM_MIXED(OP) \
  template <class T> TM_BOTH complex<T> operator OP(const complex<T> &a, const T &b); \
  template <class T> TM_BOTH complex<T> operator OP(const T &a, const complex<T> &b);
TM_MIXED(+) TM_MIXED(-) TM_MIXED(*) TM_MIXED(/)
#undef TM_MIXED
template <class T> TM_BOTH complex<T> conj(const complex<T> &z) { return complex<T>(z.real(), -z.imag()); }
template <class T> TM_BOTH T abs(const complex<T> &z);
template <class T> TM_BOTH T arg(const complex<T> &z);
template <class T> TM_BOTH T norm(const complex<T> &z);
template <class T> TM_BOTH complex<T> proj(const complex<T> &z);
template <class T> TM_BOTH complex<T> polar(const T &radius, const T &angle = T());
template <class T> TM_BOTH complex<T> pow(const complex<T> &a, const complex<T> &b);
template <class T> TM_BOTH complex<T> pow(const complex<T> &a, const T &b);
template <class T> TM_BOTH complex<T> pow(const T &a, const complex<T> &b);
#define TM_UNARY(NAME) template <class T> TM_BOTH complex<T> NAME(const complex<T> &z);
TM_UNARY(exp) TM_UNARY(log) TM_UNARY(log10) TM_UNARY(sqrt) TM_UNARY(sin) TM_UNARY(cos) TM_UNARY(tan) TM_UNARY(asin)
TM_UNARY(acos) TM_UNARY(atan) TM_UNARY(sinh) TM_UNARY(cosh) TM_UNARY(tanh) TM_UNARY(asinh) TM_UNARY(acosh) TM_UNARY(atanh)
#undef TM_UNARY
}  // namespace thrust
#undef TM_BOTH
#endif
