// Thrust: host-side algorithms and containers, declared so that files parse and calls are found.
#ifndef TM_THRUST_H
#define TM_THRUST_H
#include "../tm_cuda_prelude.h"
#ifdef TM_HAVE_STD
#include <utility>
#endif
namespace thrust {
template <class T> struct device_ptr {
  T *p;
  __host__ __device__ device_ptr(T *q = nullptr);
  __host__ __device__ T *get() const;
  __host__ __device__ T &operator[](size_t i) const;
  __host__ __device__ T &operator*() const;
  __host__ __device__ device_ptr operator+(ptrdiff_t n) const;
  __host__ __device__ device_ptr operator-(ptrdiff_t n) const;
  __host__ __device__ ptrdiff_t operator-(device_ptr q) const;
  __host__ __device__ bool operator!=(device_ptr q) const;
  __host__ __device__ bool operator==(device_ptr q) const;
};
template <class T, class = void> struct tm_vector {
  typedef T value_type;
  typedef device_ptr<T> iterator;
  typedef device_ptr<T> const_iterator;
  __host__ tm_vector();
  template <class... A> explicit __host__ tm_vector(A &&...arguments);
  template <class V> __host__ tm_vector &operator=(const V &other);
  __host__ iterator begin() const;
  __host__ iterator end() const;
  __host__ device_ptr<T> data() const;
  __host__ size_t size() const;
  __host__ bool empty() const;
  __host__ T &operator[](size_t i) const;
  __host__ T &front() const;
  __host__ T &back() const;
  __host__ void resize(size_t n);
  __host__ void resize(size_t n, const T &v);
  __host__ void reserve(size_t n);
  __host__ void clear();
  __host__ void push_back(const T &v);
  template <class... A> __host__ void assign(A &&...arguments);
};
template <class T, class A = void> struct device_vector : tm_vector<T, A> {
  using tm_vector<T, A>::tm_vector;
  using tm_vector<T, A>::operator=;
};
template <class T, class A = void> struct host_vector : tm_vector<T, A> {
  using tm_vector<T, A>::tm_vector;
  using tm_vector<T, A>::operator=;
};
template <class T> __host__ __device__ device_ptr<T> device_pointer_cast(T *p);
template <class T> __host__ __device__ T *raw_pointer_cast(device_ptr<T> p);
template <class T> __host__ __device__ T *raw_pointer_cast(T *p);
template <class T> struct plus { __host__ __device__ T operator()(const T &a, const T &b) const { return a + b; } };
template <class T> struct minus { __host__ __device__ T operator()(const T &a, const T &b) const { return a - b; } };
template <class T> struct multiplies { __host__ __device__ T operator()(const T &a, const T &b) const { return a * b; } };
template <class T> struct maximum { __host__ __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
template <class T> struct minimum { __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
template <class T> struct less { __host__ __device__ bool operator()(const T &a, const T &b) const { return a < b; } };
template <class T> struct greater { __host__ __device__ bool operator()(const T &a, const T &b) const { return b < a; } };
template <class T> struct equal_to { __host__ __device__ bool operator()(const T &a, const T &b) const { return a == b; } };
template <class T> struct counting_iterator { __host__ __device__ counting_iterator(T v = T()); __host__ __device__ counting_iterator operator+(ptrdiff_t) const; __host__ __device__ T operator*() const; };
template <class T> struct constant_iterator { __host__ __device__ constant_iterator(T v = T()); };
template <class T> __host__ __device__ counting_iterator<T> make_counting_iterator(T v);
template <class T> __host__ __device__ constant_iterator<T> make_constant_iterator(T v);
struct tm_policy { template <class S> __host__ tm_policy on(S) const; };
namespace cuda { static tm_policy par, par_nosync; }
static tm_policy device, host, seq;
// A kernel may call an algorithm too: without a body it is refused there.
#define TM_ALGORITHM(RESULT, NAME) template <class... A> __host__ __device__ RESULT NAME(A &&...arguments);
TM_ALGORITHM(void, sort)
TM_ALGORITHM(void, stable_sort)
TM_ALGORITHM(void, sort_by_key)
TM_ALGORITHM(void, stable_sort_by_key)
TM_ALGORITHM(void, sequence)
TM_ALGORITHM(void, fill)
TM_ALGORITHM(void, fill_n)
TM_ALGORITHM(void, uninitialized_fill)
TM_ALGORITHM(void, generate)
TM_ALGORITHM(void, replace)
TM_ALGORITHM(void, replace_if)
TM_ALGORITHM(void, reverse)
TM_ALGORITHM(void, shuffle)
TM_ALGORITHM(device_ptr<char>, copy)
TM_ALGORITHM(device_ptr<char>, copy_n)
TM_ALGORITHM(device_ptr<char>, copy_if)
TM_ALGORITHM(device_ptr<char>, transform)
TM_ALGORITHM(device_ptr<char>, inclusive_scan)
TM_ALGORITHM(device_ptr<char>, exclusive_scan)
TM_ALGORITHM(device_ptr<char>, inclusive_scan_by_key)
TM_ALGORITHM(device_ptr<char>, exclusive_scan_by_key)
TM_ALGORITHM(device_ptr<char>, remove)
TM_ALGORITHM(device_ptr<char>, remove_if)
TM_ALGORITHM(device_ptr<char>, unique)
TM_ALGORITHM(device_ptr<char>, unique_copy)
TM_ALGORITHM(device_ptr<char>, unique_by_key)
TM_ALGORITHM(device_ptr<char>, min_element)
TM_ALGORITHM(device_ptr<char>, max_element)
TM_ALGORITHM(device_ptr<char>, find)
TM_ALGORITHM(device_ptr<char>, find_if)
TM_ALGORITHM(device_ptr<char>, lower_bound)
TM_ALGORITHM(device_ptr<char>, upper_bound)
TM_ALGORITHM(bool, binary_search)
TM_ALGORITHM(device_ptr<char>, partition)
TM_ALGORITHM(device_ptr<char>, for_each)
TM_ALGORITHM(device_ptr<char>, for_each_n)
TM_ALGORITHM(device_ptr<char>, gather)
TM_ALGORITHM(device_ptr<char>, scatter)
TM_ALGORITHM(device_ptr<char>, adjacent_difference)
TM_ALGORITHM(device_ptr<char>, merge)
TM_ALGORITHM(device_ptr<char>, set_union)
TM_ALGORITHM(device_ptr<char>, set_intersection)
TM_ALGORITHM(double, reduce)
TM_ALGORITHM(double, transform_reduce)
TM_ALGORITHM(double, inner_product)
TM_ALGORITHM(double, count)
TM_ALGORITHM(double, count_if)
TM_ALGORITHM(double, any_of)
TM_ALGORITHM(double, all_of)
TM_ALGORITHM(double, none_of)
TM_ALGORITHM(double, is_sorted)
TM_ALGORITHM(double, equal)
#undef TM_ALGORITHM
}  // namespace thrust
#endif
