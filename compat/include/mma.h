// WMMA: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_MMA_H
#define TM_MMA_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
#include "cuda_fp16.h"
#include "cuda_bf16.h"
namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32 {}; struct u4 {}; struct s4 {}; struct b1 {}; }
template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment { enum { num_elements = m * n / 32 }; T x[num_elements]; };
template <class F, class V> TM_FN void fill_fragment(F &fragment, const V &value) TM_IS(tm_refuse(__func__);)
template <class F, class T> TM_FN void load_matrix_sync(F &fragment, const T *p, unsigned stride) TM_IS(tm_refuse(__func__);)
template <class F, class T> TM_FN void load_matrix_sync(F &fragment, const T *p, unsigned stride, layout_t layout) TM_IS(tm_refuse(__func__);)
template <class F, class T> TM_FN void store_matrix_sync(T *p, const F &fragment, unsigned stride, layout_t layout) TM_IS(tm_refuse(__func__);)
template <class D, class A, class B, class C> TM_FN void mma_sync(D &d, const A &a, const B &b, const C &c, bool saturate = false) TM_IS(tm_refuse(__func__);)
TM_FN float __float_to_tf32(float v) TM_IS(tm_refuse(__func__);)
}  // namespace wmma
}  // namespace nvcuda
#endif
