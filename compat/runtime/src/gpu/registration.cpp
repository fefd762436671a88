// What nvcc's start-up code tells the CUDA runtime: which host function is which kernel, and where
// a module's variables are. A module has its own copies of the variables that its kernels use.
#include <cxxabi.h>
#include <stdlib.h>
#include <string.h>

#include <mutex>
#include <unordered_map>

#include "gpu.h"
#include "tm_launch_cuda.h"

extern "C" {
void __real___cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
void __real___cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __real___cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
#if CUDART_VERSION >= 13000
cudaError_t __real___cudaGetKernel(cudaKernel_t *, const void *);
#endif
}

namespace tile_migrate {

namespace {

constexpr char kOwnPrefix[] = "tm_device_";  // of the kernels that implementations launch

struct Function {
  const void *host;
  std::string name;
};

struct Variable {
  std::string qualified;
  const void *host;  // what cudaGetSymbolAddress takes
  void **managed;    // where the program keeps a managed variable's address
  size_t bytes;
};

// Filled by static constructors of any order: never destroyed.
struct Registrations {
  std::mutex mutex;
  std::vector<Function> pending;  // not bound to a Kernel yet
  std::unordered_map<const void *, const void *> modules;  // by host function or handle
  std::unordered_map<const void *, std::vector<Variable>> variables;  // by module
  std::unordered_map<std::string, int> elements;  // of variables, by qualified name
  std::unordered_map<const Kernel *, const void *> owners;  // host functions of kernels with internal linkage
};

Registrations &registrations() {
  static Registrations &all = *new Registrations;
  return all;
}

// "__nv_static_3__abc__Z1kPi" → "_Z1kPi".
const char *without_file(const char *name) {
  constexpr char kStatic[] = "__nv_static_";
  if (strncmp(name, kStatic, sizeof kStatic - 1) != 0) return name;
  char *end;
  unsigned long length = strtoul(name + sizeof kStatic - 1, &end, 10);
  return *end == '_' && length + 2 < strlen(end) ? end + 1 + length + 1 : name;
}

// nvcc's and other compilers' names of one entity in the same words: "_Z1kPi" and "_ZL1kPi" are
// "k(int*)"; a component "_INTERNAL_…", which stands for the file, goes.
std::string canonical(const char *name) {
  name = without_file(name);
  int status = 0;
  char *demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = status == 0 && demangled ? demangled : name;
  free(demangled);
  for (size_t at; (at = text.find("_INTERNAL_")) != std::string::npos;) {
    size_t end = text.find("::", at);
    if (end == std::string::npos) break;
    text.erase(at, end + 2 - at);
  }
  return text;
}

std::string without_unnamed(std::string text) {
  constexpr char kUnnamed[] = "(anonymous namespace)::";
  for (size_t at; (at = text.find(kUnnamed)) != std::string::npos;) text.erase(at, sizeof kUnnamed - 1);
  return text;
}

bool is_migrated(const Kernel &kernel) {
  for (int kind = TM_KIND_TILE; kind < kKinds; ++kind)
    if (kernel.records[kind].load()) return true;
  return false;
}

tm_kernel_record *kept_record(const char *mangled, const Kernel *described) {
  auto *record = new tm_kernel_record{};
  record->abi = TM_ABI_VERSION;
  record->kind = TM_KIND_KEPT;
  record->mangled = mangled;
  record->implementation = run_kept;
  record->source = "";
  if (const tm_kernel_record *known = described ? described->description() : nullptr) {
    record->parameters = known->parameters;
    record->parameter_count = known->parameter_count;
    record->source = described->source.c_str();
  }
  return record;
}

// Sizes are all that is known of the parameters of a kernel that is not migrated. Mode record saves
// them, and looks for pointers in their values.
void describe(tm_kernel_record *record, const void *host) {
  auto &found = *new std::vector<tm_parameter>;
  size_t offset, bytes;
  while (cudaFuncGetParamInfo(host, found.size(), &offset, &bytes) == cudaSuccess)
    found.push_back(tm_parameter{"", (uint32_t)bytes, 0, 1, TM_ELEMENT_UNKNOWN});
  cudaGetLastError();
  record->parameters = found.data();
  record->parameter_count = (uint32_t)found.size();
}

// A kernel that only has its own code; a name of its own where a migrated kernel is called the same.
Kernel *kept_only(const Function &function) {
  std::string name = without_file(function.name.c_str());
  for (Kernel *known; (known = find_kernel_named(name.c_str())); name += "#kept")
    if (!is_migrated(*known)) return known;
  tm_kernel_record *record = kept_record(name.c_str(), nullptr);
  if (launches_are_synchronous()) describe(record, function.host);
  tm_register_kernel(record);
  Kernel *kernel = find_kernel_named(name.c_str());
  record->mangled = kernel->name.c_str();
  return kernel;
}

// Under the mutex: every registered function gets its kernel.
void settle(Registrations &all) {
  if (all.pending.empty()) return;
  std::unordered_map<std::string, Kernel *> migrated;
  for (Kernel *kernel : all_kernels()) {
    if (!is_migrated(*kernel)) continue;
    auto added = migrated.emplace(canonical(kernel->name.c_str()), kernel);
    if (!added.second) added.first->second = nullptr;  // which one it is cannot be told
  }
  std::unordered_map<std::string, Kernel *> kept;
  std::vector<Function> functions;
  functions.swap(all.pending);
  for (const Function &function : functions) {
    auto found = migrated.find(canonical(function.name.c_str()));
    Kernel *kernel = found == migrated.end() ? nullptr : found->second;
    if (kernel && has_internal_linkage(kernel->name.c_str())) {
      const void *owner = all.owners.emplace(kernel, function.host).first->second;
      if (owner != function.host) {  // two files' kernels of one name: which one was migrated cannot be told
        bind_address(owner, *kept_only(function));
        found->second = kernel = nullptr;
      }
    }
    if (kernel && !kernel->records[TM_KIND_KEPT].load()) tm_register_kernel(kept_record(kernel->name.c_str(), kernel));
    if (!kernel) {
      Kernel *&known = kept[function.name];
      kernel = known ? known : known = kept_only(function);
    }
    bind_address(function.host, *kernel);
  }
}

void *address_of(const Variable &variable) {
  if (variable.managed) return *variable.managed;
  void *address = nullptr;
  if (cudaGetSymbolAddress(&address, variable.host) == cudaSuccess) return address;
  cudaGetLastError();
  return nullptr;
}

std::vector<Variable> variables_of(const void *function) {
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  auto module = all.modules.find(function);
  if (module == all.modules.end()) return {};
  auto variables = all.variables.find(module->second);
  return variables == all.variables.end() ? std::vector<Variable>() : variables->second;
}

void note_variable(const void *module, const char *name, const void *host, void **managed, size_t bytes) {
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  all.variables[module].push_back(Variable{without_unnamed(canonical(name)), host, managed, bytes});
}

}  // namespace

Kernel *kernel_of(const void *function) {
  if (Kernel *known = find_kernel(function)) return known;
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  settle(all);
  return find_kernel(function);
}

int symbol_element(const char *name) {
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  auto found = all.elements.find(name);
  return found == all.elements.end() ? (int)TM_ELEMENT_UNKNOWN : found->second;
}

void visit_symbols(SymbolVisitor visit, void *context) {
  if (!current_request) return;
  for (const Variable &variable : variables_of(current_request->function))
    if (void *address = address_of(variable)) visit(context, variable.qualified.c_str(), address, variable.bytes);
}

}  // namespace tile_migrate

using namespace tile_migrate;

extern "C" {

void tm_gpu_describe(const char *qualified, int element) {
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  all.elements[qualified] = element;
}

void *tm_gpu_symbol(const char *qualified) {
  if (!current_request) return nullptr;
  const Variable *found = nullptr;
  std::vector<Variable> variables = variables_of(current_request->function);
  for (const Variable &variable : variables) {
    if (variable.qualified != qualified) continue;
    if (found) return nullptr;
    found = &variable;
  }
  return found ? address_of(*found) : nullptr;
}

void __wrap___cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int threads, uint3 *tid,
                                   uint3 *bid, dim3 *block, dim3 *grid, int *warp) {
  __real___cudaRegisterFunction(module, host, device, name, threads, tid, bid, block, grid, warp);
  if (strncmp(name, kOwnPrefix, sizeof kOwnPrefix - 1) == 0) return;
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  all.pending.push_back(Function{host, name});
  all.modules[host] = module;
}

void __wrap___cudaRegisterVar(void **module, char *host, char *device, const char *name, int external, size_t bytes, int constant,
                              int global) {
  __real___cudaRegisterVar(module, host, device, name, external, bytes, constant, global);
  note_variable(module, name, host, nullptr, bytes);
}

void __wrap___cudaRegisterManagedVar(void **module, void **host, char *device, const char *name, int external, size_t bytes,
                                     int constant, int global) {
  __real___cudaRegisterManagedVar(module, host, device, name, external, bytes, constant, global);
  note_variable(module, name, host, host, bytes);
}

#if CUDART_VERSION >= 13000
// Launches by nvcc 13 name a handle, which they get here once.
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *handle, const void *host) {
  cudaError_t error = __real___cudaGetKernel(handle, host);
  if (error != cudaSuccess) return error;
  Kernel *kernel = kernel_of(host);
  if (!kernel) return error;
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  bind_address(*handle, *kernel);
  all.modules[*handle] = all.modules[host];
  return error;
}
#endif

}  // extern "C"
