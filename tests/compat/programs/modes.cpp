// The launch seam: kernels with a kept and other implementations, some wrong on purpose. What runs
// and what is said depends on the environment; results go to stdout.
#include "harness.h"

#include <functional>

__device__ int scale_by = 2;

__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= scale_by;
}
__global__ void accumulate(double *total, const double *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i];
}
struct Node {
  int value;
  Node *next;
};
__global__ void walk(Node **heads) {
  for (Node *node = heads[threadIdx.x]; node; node = node->next) node->value += 1;
}
namespace ns {
template <class T>
__global__ void fill(T *x, T value) {
  x[threadIdx.x] = value;
}
}  // namespace ns
static __global__ void only_kept(int *x) { x[threadIdx.x] += 1; }
__global__ void broken(int *x) {
  if (x[0]) x[threadIdx.x] = 1;
}

template <class T>
T &argument(void **arguments, int i) {
  return *(T *)arguments[i];
}

// Doubles, but gets the element `planted` wrong.
static int planted = -1;
static int scale_tile(const tm_launch *, void **arguments) {
  float *x = argument<float *>(arguments, 0);
  int n = argument<int>(arguments, 1);
  for (int i = 0; i < n; ++i) x[i] *= scale_by;
  if (planted >= 0) x[planted] += 1;
  return 0;
}
static int scale_loop(const tm_launch *, void **arguments) {
  int n = argument<int>(arguments, 1);
  if (n > 100) return TM_NOT_APPLICABLE;
  for (int i = 0; i < n; ++i) argument<float *>(arguments, 0)[i] *= scale_by;
  puts("loop ran");
  return 0;
}
static int accumulate_tile(const tm_launch *, void **arguments) {
  double *total = argument<double *>(arguments, 0);
  const double *x = argument<const double *>(arguments, 1);
  for (int i = 0; i < argument<int>(arguments, 2); ++i) total[i] = (total[i] + x[i]) * (1 + 1e-12);
  return 0;
}
static int walk_loop(const tm_launch *launch, void **arguments) {
  for (unsigned i = 0; i < launch->block[0]; ++i)
    for (Node *node = argument<Node **>(arguments, 0)[i]; node; node = node->next) node->value += planted == 7 ? 2 : 1;
  return 0;
}
static int broken_tile(const tm_launch *launch, void **arguments) {
  return tm_run_blocks(launch, [](void *, uint64_t, uint64_t) { return *(volatile int *)16; }, nullptr);
}

template <auto F>
static int kept(const tm_launch *launch, void **arguments) {
  return tm_run_threads(launch, Entry<F>::run, arguments, 0);
}

static std::vector<tm_kernel_record *> records;
static void add(const char *mangled, int kind, tm_implementation implementation, const tm_parameter *parameters,
                uint32_t count, const void *host, const char *source = "modes.cpp:1") {
  auto *record = new tm_kernel_record{};
  record->abi = TM_ABI_VERSION;
  record->kind = kind;
  record->mangled = mangled;
  record->implementation = implementation;
  record->parameters = parameters;
  record->parameter_count = count;
  record->host_function = host;
  record->source = source;
  CHECK(tm_register_kernel(record) == 0);
  records.push_back(record);
}

template <class... A>
static int launch(const void *host, unsigned grid, unsigned block, A... arguments) {
  void *pointers[] = {(void *)&arguments..., nullptr};
  CHECK(tm_push_configuration(grid, 1, 1, block, 1, 1, 0, nullptr) == 0);
  return tm_launch_pushed(host, pointers);
}

static int other_file(const tm_launch *, void **) { return 3; }

static void registry() {
  using tile_migrate::find_kernel;
  using tile_migrate::find_kernel_named;
  static char hosts[600];
  // Internal linkage: the same name in two files is two kernels.
  add("_ZL4samePi", TM_KIND_KEPT, other_file, nullptr, 0, &hosts[0], "a.cu:1");
  add("_ZL4samePi", TM_KIND_KEPT, scale_tile, nullptr, 0, &hosts[1], "b.cu:1");
  CHECK(find_kernel(&hosts[0]) && find_kernel(&hosts[1]) && find_kernel(&hosts[0]) != find_kernel(&hosts[1]));
  CHECK(!tile_migrate::bind_host_function(&hosts[2], "_ZL4samePi"));
  CHECK(!tile_migrate::bind_host_function(&hosts[2], "_Z7nothingv"));
  CHECK(tile_migrate::bind_host_function(&hosts[2], "_Z5scalePfi"));
  CHECK(find_kernel(&hosts[2]) == find_kernel_named("_Z5scalePfi"));
  CHECK(!find_kernel(&hosts[3]) && !find_kernel(nullptr) && !find_kernel_named("_Z7nothingv"));
  for (int i = 10; i < 600; ++i) {
    static char names[600][32];
    snprintf(names[i], sizeof names[i], "_Z%uk%03dv", 4, i);
    add(names[i], TM_KIND_KEPT, other_file, nullptr, 0, &hosts[i]);
  }
  for (int i = 10; i < 600; ++i) CHECK(find_kernel(&hosts[i]) && find_kernel(&hosts[i])->plain.substr(1) == std::to_string(i / 100) + std::to_string(i / 10 % 10) + std::to_string(i % 10));
  auto *fill = find_kernel_named("_ZN2ns4fillIfEEvPT_S1_");
  CHECK(fill->plain == "fill" && fill->qualified == "ns::fill" && fill->signature == "ns::fill<float>");
  for (const char *pattern : {"fill", "ns::fill", "ns::fill<float>", "fill<float>", "fi*", "_ZN2ns4fillIfEEvPT_S1_"}) CHECK(fill->matches(pattern));
  for (const char *pattern : {"fil", "ns", "fill<int>", "other::fill"}) CHECK(!fill->matches(pattern));
  tm_kernel_record *first = records[records.size() - 1];
  tm_kernel_record second = *first;
  second.implementation = scale_tile;
  CHECK(tm_register_kernel(&second) == 0);
  auto *kernel = find_kernel_named(first->mangled);
  CHECK(kernel->description() == first);
  tm_unregister_kernel(first);
  CHECK(kernel->description() == &second);
  tm_unregister_kernel(&second);
  CHECK(!kernel->description());
  tm_launch gone = shape(1, 1);
  gone.kernel = first->mangled;
  CHECK(tile_migrate::run_launch(gone, nullptr) == 209);
  tm_kernel_record bad = *first;
  bad.abi = 99;
  CHECK(tm_register_kernel(&bad) == 1);
  bad = *first, bad.kind = 4;
  CHECK(tm_register_kernel(&bad) == 1);
}

int main(int, char **options) {
  static const tm_parameter scale_parameters[] = {{"x", 8, 1, 1, TM_ELEMENT_FLOAT32}, {"n", 4, 0, 0, TM_ELEMENT_INT32}};
  static const tm_parameter accumulate_parameters[] = {
      {"total", 8, 1, 1, TM_ELEMENT_FLOAT64}, {"x", 8, 1, 0, TM_ELEMENT_FLOAT64}, {"n", 4, 0, 0, TM_ELEMENT_INT32}};
  static const tm_parameter pointer_parameter[] = {{"p", 8, 1, 1, TM_ELEMENT_UNKNOWN}};
  static const tm_parameter fill_parameters[] = {{"x", 8, 1, 1, TM_ELEMENT_FLOAT32}, {"value", 4, 0, 0, TM_ELEMENT_FLOAT32}};
  add("_Z5scalePfi", TM_KIND_KEPT, kept<scale>, scale_parameters, 2, (void *)scale);
  add("_Z5scalePfi", TM_KIND_TILE, scale_tile, scale_parameters, 2, nullptr);
  add("_Z5scalePfi", TM_KIND_LOOP, scale_loop, scale_parameters, 2, nullptr);
  add("_Z10accumulatePdPKdi", TM_KIND_KEPT, kept<accumulate>, accumulate_parameters, 3, (void *)accumulate);
  add("_Z10accumulatePdPKdi", TM_KIND_TILE, accumulate_tile, accumulate_parameters, 3, nullptr);
  add("_Z4walkPP4Node", TM_KIND_KEPT, kept<walk>, pointer_parameter, 1, (void *)walk);
  add("_Z4walkPP4Node", TM_KIND_LOOP, walk_loop, pointer_parameter, 1, nullptr);
  add("_ZN2ns4fillIfEEvPT_S1_", TM_KIND_KEPT, kept<ns::fill<float>>, fill_parameters, 2, (void *)ns::fill<float>);
  add("_ZL9only_keptPi", TM_KIND_KEPT, kept<only_kept>, pointer_parameter, 1, (void *)only_kept);
  add("_Z6brokenPi", TM_KIND_KEPT, kept<broken>, pointer_parameter, 1, (void *)broken);
  add("_Z6brokenPi", TM_KIND_TILE, broken_tile, pointer_parameter, 1, nullptr);
  if (strcmp(options[1], "registry") == 0) {
    registry();
    return failures != 0;
  }
  planted = atoi(options[1]);
  symbols.push_back({"scale_by", {(uint8_t *)&scale_by, sizeof scale_by}});

  float *x = allocate<float>(1000);
  for (int i = 0; i < 1000; ++i) x[i] = i;
  CHECK(launch((void *)scale, 8, 128, x + 8, 900) == 0);
  CHECK(launch((void *)scale, 1, 64, x, 8) == 0);
  double *totals = allocate<double>(64), *addends = allocate<double>(64);
  for (int i = 0; i < 64; ++i) addends[i] = i + 0.5;
  CHECK(launch((void *)accumulate, 1, 64, totals, (const double *)addends, 64) == 0);
  Node *nodes = allocate<Node>(6);
  Node **heads = allocate<Node *>(2);
  for (int i = 0; i < 6; ++i) nodes[i] = Node{i * 10, i % 3 < 2 ? &nodes[i + 1] : nullptr};
  heads[0] = &nodes[0], heads[1] = &nodes[3];
  CHECK(launch((void *)walk, 1, 2, heads) == 0);
  CHECK(launch((void *)ns::fill<float>, 1, 4, x + 996, 5.0f) == 0);
  int *counts = allocate<int>(32), *own = new int[32]();
  CHECK(launch((void *)only_kept, 1, 32, counts) == 0);
  CHECK(launch((void *)only_kept, 1, 32, own) == 0);
  int error = launch((void *)broken, 1, 32, counts);

  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += x[i];
  printf("scale %.1f\n", sum);
  printf("accumulate %.13g\n", totals[40]);
  printf("walk %d %d %d\n", nodes[0].value, nodes[2].value, nodes[5].value);
  printf("counts %d %d, broken %d\n", counts[3], own[3], error);
  fputs(tile_migrate::launch_summary().c_str(), stdout);
  return failures != 0;
}
