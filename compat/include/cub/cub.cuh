// CUB: declared so that files parse and uses are found. Nothing executes it.
#ifndef TM_CUB_H
#define TM_CUB_H
#include "../tm_cuda_prelude.h"
#include "../tm_library_call.h"
namespace cub {
struct DeviceReduce {
  template <class... A> static __host__ cudaError_t Sum(A &&...arguments);
  template <class... A> static __host__ cudaError_t Min(A &&...arguments);
  template <class... A> static __host__ cudaError_t Max(A &&...arguments);
  template <class... A> static __host__ cudaError_t Reduce(A &&...arguments);
  template <class... A> static __host__ cudaError_t ReduceByKey(A &&...arguments);
  template <class... A> static __host__ cudaError_t ArgMin(A &&...arguments);
  template <class... A> static __host__ cudaError_t ArgMax(A &&...arguments);
  template <class... A> static __host__ cudaError_t TransformReduce(A &&...arguments);
};
struct DeviceScan {
  template <class... A> static __host__ cudaError_t ExclusiveSum(A &&...arguments);
  template <class... A> static __host__ cudaError_t InclusiveSum(A &&...arguments);
  template <class... A> static __host__ cudaError_t ExclusiveScan(A &&...arguments);
  template <class... A> static __host__ cudaError_t InclusiveScan(A &&...arguments);
  template <class... A> static __host__ cudaError_t ExclusiveSumByKey(A &&...arguments);
  template <class... A> static __host__ cudaError_t InclusiveSumByKey(A &&...arguments);
};
struct DeviceRadixSort {
  template <class... A> static __host__ cudaError_t SortKeys(A &&...arguments);
  template <class... A> static __host__ cudaError_t SortPairs(A &&...arguments);
  template <class... A> static __host__ cudaError_t SortKeysDescending(A &&...arguments);
  template <class... A> static __host__ cudaError_t SortPairsDescending(A &&...arguments);
};
struct DeviceSegmentedReduce {
  template <class... A> static __host__ cudaError_t Sum(A &&...arguments);
  template <class... A> static __host__ cudaError_t Min(A &&...arguments);
  template <class... A> static __host__ cudaError_t Max(A &&...arguments);
  template <class... A> static __host__ cudaError_t Reduce(A &&...arguments);
  template <class... A> static __host__ cudaError_t ArgMin(A &&...arguments);
  template <class... A> static __host__ cudaError_t ArgMax(A &&...arguments);
};
struct DeviceSegmentedRadixSort {
  template <class... A> static __host__ cudaError_t SortKeys(A &&...arguments);
  template <class... A> static __host__ cudaError_t SortPairs(A &&...arguments);
  template <class... A> static __host__ cudaError_t SortPairsDescending(A &&...arguments);
  template <class... A> static __host__ cudaError_t SortKeysDescending(A &&...arguments);
};
struct DeviceSelect {
  template <class... A> static __host__ cudaError_t If(A &&...arguments);
  template <class... A> static __host__ cudaError_t Flagged(A &&...arguments);
  template <class... A> static __host__ cudaError_t Unique(A &&...arguments);
  template <class... A> static __host__ cudaError_t UniqueByKey(A &&...arguments);
};
struct DevicePartition {
  template <class... A> static __host__ cudaError_t If(A &&...arguments);
  template <class... A> static __host__ cudaError_t Flagged(A &&...arguments);
};
struct DeviceHistogram {
  template <class... A> static __host__ cudaError_t HistogramEven(A &&...arguments);
  template <class... A> static __host__ cudaError_t HistogramRange(A &&...arguments);
  template <class... A> static __host__ cudaError_t MultiHistogramEven(A &&...arguments);
};
struct DeviceRunLengthEncode {
  template <class... A> static __host__ cudaError_t Encode(A &&...arguments);
  template <class... A> static __host__ cudaError_t NonTrivialRuns(A &&...arguments);
};
struct DeviceMergeSort {
  template <class... A> static __host__ cudaError_t SortKeys(A &&...arguments);
  template <class... A> static __host__ cudaError_t SortPairs(A &&...arguments);
  template <class... A> static __host__ cudaError_t StableSortKeys(A &&...arguments);
  template <class... A> static __host__ cudaError_t StableSortPairs(A &&...arguments);
};
struct DeviceFor {
  template <class... A> static __host__ cudaError_t ForEach(A &&...arguments);
  template <class... A> static __host__ cudaError_t Bulk(A &&...arguments);
  template <class... A> static __host__ cudaError_t ForEachN(A &&...arguments);
};
struct DeviceSpmv {
  template <class... A> static __host__ cudaError_t CsrMV(A &&...arguments);
};
struct Sum { template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return a + b; } };
struct Max { template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
struct Min { template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
template <class T> struct DoubleBuffer {
  T *d_buffers[2]; int selector;
  __host__ DoubleBuffer(T *a = nullptr, T *b = nullptr);
  __host__ T *Current(); __host__ T *Alternate();
};
template <class K, class V> struct KeyValuePair { K key; V value; };
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
#define TM_CUB_REDUCE(NAME)                                                                         \
  struct TempStorage { int unused; };                                                               \
  __device__ NAME(TempStorage &);                                                                   \
  __device__ NAME();                                                                                \
  template <class... Rest> __device__ T Sum(Rest &&...arguments);                                         \
  template <class... Rest> __device__ T Reduce(Rest &&...arguments);
template <class T, int X, BlockReduceAlgorithm R = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int A = 0>
struct BlockReduce { TM_CUB_REDUCE(BlockReduce) };
template <class T, int N = 32, int A = 0> struct WarpReduce { TM_CUB_REDUCE(WarpReduce) };
#undef TM_CUB_REDUCE
#define TM_CUB_SCAN(NAME)                                                                           \
  struct TempStorage { int unused; };                                                               \
  __device__ NAME(TempStorage &);                                                                   \
  template <class... Rest> __device__ void ExclusiveSum(Rest &&...arguments);                             \
  template <class... Rest> __device__ void InclusiveSum(Rest &&...arguments);                             \
  template <class... Rest> __device__ void ExclusiveScan(Rest &&...arguments);                            \
  template <class... Rest> __device__ void InclusiveScan(Rest &&...arguments);
template <class T, int X, BlockScanAlgorithm R = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int A = 0>
struct BlockScan { TM_CUB_SCAN(BlockScan) };
template <class T, int N = 32, int A = 0> struct WarpScan { TM_CUB_SCAN(WarpScan) };
#undef TM_CUB_SCAN
#define TM_CUB_MOVE(NAME, METHOD)                                                                   \
  struct TempStorage { int unused; };                                                               \
  __device__ NAME(TempStorage &);                                                                   \
  __device__ NAME();                                                                                \
  template <class... Rest> __device__ void METHOD(Rest &&...arguments);
template <class T, int X, int I, BlockLoadAlgorithm R = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int A = 0>
struct BlockLoad { TM_CUB_MOVE(BlockLoad, Load) };
template <class T, int X, int I, BlockStoreAlgorithm R = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int A = 0>
struct BlockStore { TM_CUB_MOVE(BlockStore, Store) };
template <class K, int X, int I, class V = void> struct BlockRadixSort {
  TM_CUB_MOVE(BlockRadixSort, Sort)
  template <class... Rest> __device__ void SortDescending(Rest &&...arguments);
};
#undef TM_CUB_MOVE
template <class T> using CountingInputIterator = T *;
TM_ANY(int, PtxVersion)
TM_ANY(int, CeilDiv)
}  // namespace cub
#endif
