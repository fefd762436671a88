// Cooperative groups: blocks, tiles of a power of two up to 32, coalesced groups. Grid-wide
// synchronisation works in cooperative launches of programs; the verifier traps there.
#ifndef TM_COOPERATIVE_GROUPS_H
#define TM_COOPERATIVE_GROUPS_H
#include "tm_cuda_prelude.h"

namespace cooperative_groups {

#define TM_CG __device__ inline
TM_CG unsigned tm_flat_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

struct thread_block {
  TM_CG void sync() const { __syncthreads(); }
  TM_CG unsigned thread_rank() const { return tm_flat_thread(); }
  TM_CG unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  TM_CG unsigned num_threads() const { return size(); }
  TM_CG dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  TM_CG dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  TM_CG dim3 group_dim() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  TM_CG dim3 dim_threads() const { return group_dim(); }
};
TM_CG thread_block this_thread_block() { return thread_block(); }

struct grid_group {
  __device__ void sync() const TM_IS(tm_sync_grid();)
  TM_CG bool is_valid() const { return true; }
  TM_CG unsigned long long block_rank() const {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  TM_CG unsigned long long thread_rank() const {
    return block_rank() * (blockDim.x * blockDim.y * blockDim.z) + tm_flat_thread();
  }
  TM_CG unsigned long long size() const {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
  }
  TM_CG unsigned long long num_threads() const { return size(); }
  TM_CG unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  TM_CG dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
};
TM_CG grid_group this_grid() { return grid_group(); }

template <unsigned Size, class Parent = thread_block>
struct thread_block_tile {
  TM_CG unsigned thread_rank() const { return tm_flat_thread() % Size; }
  TM_CG unsigned meta_group_rank() const { return tm_flat_thread() / Size; }
  TM_CG unsigned meta_group_size() const {
    return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size;
  }
  TM_CG unsigned size() const { return Size; }
  TM_CG unsigned num_threads() const { return Size; }
  TM_CG unsigned tm_mask() const {
    return (unsigned)((1ull << Size) - 1ull) << (tm_flat_thread() % 32u / Size * Size);
  }
  TM_CG void sync() const { __syncwarp(tm_mask()); }
  template <class T> TM_CG T shfl(T v, int lane) const { return __shfl_sync(tm_mask(), v, lane, Size); }
  template <class T> TM_CG T shfl_up(T v, unsigned d) const { return __shfl_up_sync(tm_mask(), v, d, Size); }
  template <class T> TM_CG T shfl_down(T v, unsigned d) const { return __shfl_down_sync(tm_mask(), v, d, Size); }
  template <class T> TM_CG T shfl_xor(T v, int m) const { return __shfl_xor_sync(tm_mask(), v, m, Size); }
  TM_CG int any(int p) const { return __any_sync(tm_mask(), p); }
  TM_CG int all(int p) const { return __all_sync(tm_mask(), p); }
  TM_CG unsigned ballot(int p) const {
    return (__ballot_sync(tm_mask(), p) & tm_mask()) >> (tm_flat_thread() % 32u / Size * Size);
  }
};
template <unsigned Size, class Group>
TM_CG thread_block_tile<Size, Group> tiled_partition(const Group &) {
  return thread_block_tile<Size, Group>();
}

struct coalesced_group {
  unsigned tm_members;
  TM_CG unsigned size() const { return (unsigned)__popc(tm_members); }
  TM_CG unsigned num_threads() const { return size(); }
  TM_CG unsigned thread_rank() const {
    return (unsigned)__popc(tm_members & ((1u << (tm_flat_thread() % 32u)) - 1u));
  }
  TM_CG void sync() const { __syncwarp(tm_members); }
  TM_CG int any(int p) const { return __any_sync(tm_members, p); }
  TM_CG int all(int p) const { return __all_sync(tm_members, p); }
  // The lane that has the given rank in the group.
  TM_CG int tm_lane(unsigned rank) const {
    for (int lane = 0; lane < 32; ++lane)
      if ((tm_members >> lane & 1u) && rank-- == 0u) return lane;
    return 0;
  }
  template <class T> TM_CG T shfl(T v, unsigned rank) const { return __shfl_sync(tm_members, v, tm_lane(rank)); }
  template <class T> TM_CG T shfl_down(T v, unsigned d) const {
    unsigned r = thread_rank();
    T got = __shfl_sync(tm_members, v, tm_lane(r + d < size() ? r + d : r));
    return got;
  }
  template <class T> TM_CG T shfl_up(T v, unsigned d) const {
    unsigned r = thread_rank();
    return __shfl_sync(tm_members, v, tm_lane(r >= d ? r - d : r));
  }
};
TM_CG coalesced_group coalesced_threads() { coalesced_group g; g.tm_members = __activemask(); return g; }

template <class Group> TM_CG void sync(const Group &g) { g.sync(); }
template <class Group> TM_CG unsigned thread_rank(const Group &g) { return g.thread_rank(); }
template <class Group> TM_CG unsigned group_size(const Group &g) { return g.size(); }

template <class T> struct plus { TM_CG T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { TM_CG T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { TM_CG T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { TM_CG T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { TM_CG T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { TM_CG T operator()(T a, T b) const { return a ^ b; } };
// The order of a float reduction is CUDA's own business: a butterfly is one of the legal ones.
template <unsigned Size, class Parent, class T, class Op>
TM_CG T reduce(const thread_block_tile<Size, Parent> &g, T v, Op op) {
  for (unsigned d = Size / 2; d; d /= 2) v = op(v, g.shfl_xor(v, (int)d));
  return v;
}
#undef TM_CG

}  // namespace cooperative_groups
#endif
