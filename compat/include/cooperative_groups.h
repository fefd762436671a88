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
  static TM_CG void sync() { __syncthreads(); }
  static TM_CG unsigned thread_rank() { return tm_flat_thread(); }
  static TM_CG unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static TM_CG unsigned num_threads() { return size(); }
  static TM_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static TM_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static TM_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static TM_CG dim3 dim_threads() { return group_dim(); }
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
  TM_CG dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  TM_CG dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  TM_CG dim3 dim_blocks() const { return group_dim(); }
};
TM_CG grid_group this_grid() { return grid_group(); }

// Bit r of the result is the bit of mask that belongs to the r-th member.
TM_CG unsigned tm_by_rank(unsigned members, unsigned mask) {
  unsigned packed = 0;
  for (unsigned lane = 0, rank = 0; lane < 32; ++lane)
    if (members >> lane & 1u) packed |= (mask >> lane & 1u) << rank++;
  return packed;
}

template <class Group> struct tm_extent {
  static TM_CG unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }
};
template <unsigned Size, class Parent = thread_block>
struct thread_block_tile {
  thread_block_tile() = default;
  template <class Other> TM_CG thread_block_tile(const thread_block_tile<Size, Other> &) {}
  TM_CG unsigned thread_rank() const { return tm_flat_thread() % Size; }
  TM_CG unsigned meta_group_rank() const { return tm_flat_thread() % tm_extent<Parent>::threads() / Size; }
  TM_CG unsigned meta_group_size() const { return (tm_extent<Parent>::threads() + Size - 1) / Size; }
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
    return tm_by_rank(tm_mask(), __ballot_sync(tm_mask(), p));
  }
  template <class T> TM_CG unsigned match_any(T v) const {
    return tm_by_rank(tm_mask(), __match_any_sync(tm_mask(), v));
  }
  template <class T> TM_CG unsigned match_all(T v, int &all) const {
    return tm_by_rank(tm_mask(), __match_all_sync(tm_mask(), v, &all));
  }
};
template <unsigned Size, class Parent> struct tm_extent<thread_block_tile<Size, Parent>> {
  static TM_CG unsigned threads() { return Size; }
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
  TM_CG unsigned tm_mask() const { return tm_members; }
  TM_CG unsigned ballot(int p) const { return tm_by_rank(tm_members, __ballot_sync(tm_members, p)); }
  template <class T> TM_CG unsigned match_any(T v) const {
    return tm_by_rank(tm_members, __match_any_sync(tm_members, v));
  }
  template <class T> TM_CG unsigned match_all(T v, int &all) const {
    return tm_by_rank(tm_members, __match_all_sync(tm_members, v, &all));
  }
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

// A block, or threads of one warp.
struct thread_group {
  bool tm_is_block;
  unsigned tm_members;
  TM_CG thread_group(const thread_block &) { tm_is_block = true; tm_members = 0; }
  TM_CG thread_group(const coalesced_group &g) { tm_is_block = false; tm_members = g.tm_members; }
  template <unsigned Size, class Parent> TM_CG thread_group(const thread_block_tile<Size, Parent> &g) {
    tm_is_block = false;
    tm_members = g.tm_mask();
  }
  TM_CG coalesced_group tm_lanes() const { coalesced_group g; g.tm_members = tm_members; return g; }
  TM_CG unsigned size() const { return tm_is_block ? thread_block::size() : tm_lanes().size(); }
  TM_CG unsigned num_threads() const { return size(); }
  TM_CG unsigned thread_rank() const { return tm_is_block ? thread_block::thread_rank() : tm_lanes().thread_rank(); }
  TM_CG void sync() const {
    if (tm_is_block) __syncthreads();
    else __syncwarp(tm_members);
  }
};

// Tiles whose size is a value: consecutive ranks of the parent.
TM_CG coalesced_group tiled_partition(const coalesced_group &parent, unsigned size) {
  coalesced_group g;
  g.tm_members = 0;
  unsigned first = parent.thread_rank() / size * size;
  for (unsigned r = first; r < first + size && r < parent.size(); ++r) g.tm_members |= 1u << parent.tm_lane(r);
  return g;
}
TM_CG thread_group tiled_partition(const thread_group &parent, unsigned size) {
  coalesced_group warp = parent.tm_lanes();
  if (parent.tm_is_block) {
    unsigned left = thread_block::size() - tm_flat_thread() / 32u * 32u;
    warp.tm_members = left < 32u ? (1u << left) - 1u : ~0u;
  }
  return thread_group(tiled_partition(warp, size));
}
TM_CG thread_group tiled_partition(const thread_block &parent, unsigned size) {
  return tiled_partition(thread_group(parent), size);
}
template <class Group> TM_CG coalesced_group binary_partition(const Group &g, bool predicate) {
  unsigned same = __ballot_sync(g.tm_mask(), predicate);
  coalesced_group part;
  part.tm_members = g.tm_mask() & (predicate ? same : ~same);
  return part;
}
template <class Group, class T> TM_CG coalesced_group labeled_partition(const Group &g, T label) {
  coalesced_group part;
  part.tm_members = __match_any_sync(g.tm_mask(), label);
  return part;
}

template <class Group, class F, class... A> TM_CG void invoke_one(const Group &g, F &&f, A &&...arguments) {
  if (g.thread_rank() == 0) f(arguments...);
}

// Each thread copies its part at once, so that waiting is synchronising.
template <class Group, class T, class U> TM_CG void memcpy_async(const Group &g, T *to, const U *from, size_t bytes) {
  for (size_t i = g.thread_rank(); i < bytes; i += g.size()) ((char *)to)[i] = ((const char *)from)[i];
}
template <class Group> TM_CG void wait(const Group &g) { g.sync(); }
template <unsigned Stages, class Group> TM_CG void wait_prior(const Group &g) { g.sync(); }

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
template <class T, class Op> TM_CG T reduce(const coalesced_group &g, T v, Op op) {
  T result = g.shfl(v, 0u);
  for (unsigned r = 1; r < g.size(); ++r) result = op(result, g.shfl(v, r));
  return result;
}
template <class Group, class T, class Op> TM_CG T inclusive_scan(const Group &g, T v, Op op) {
  T result = v;
  for (unsigned r = g.size() - 1; r-- > 0;) {
    T other = g.shfl(v, r);
    if (r < g.thread_rank()) result = op(other, result);
  }
  return result;
}
template <class Group, class T> TM_CG T inclusive_scan(const Group &g, T v) { return inclusive_scan(g, v, plus<T>()); }
template <class Group, class T> TM_CG T exclusive_scan(const Group &g, T v) {
  T sum = inclusive_scan(g, v);
  T before = g.shfl_up(sum, 1u);
  return g.thread_rank() ? before : T();
}
#undef TM_CG

}  // namespace cooperative_groups
#endif
