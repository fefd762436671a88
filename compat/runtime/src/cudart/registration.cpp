// What nvcc-built objects tell the runtime when they are loaded, and the programs' variables.
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "../launch/launch.h"
#include "../launch/nvcc_names.h"
#include "copy.h"
#include "internal.h"
#include "trace.h"

namespace tile_migrate {

namespace {

struct Function {
  std::string name;
  const void *module;
};

struct Provided {
  void *address;
  size_t bytes;
  std::string file;  // "a_cu": of the unit that defines it
};

struct Variable {
  std::string name;
  size_t bytes = 0;
  void *address = nullptr;        // of the bytes that kernels use; null until it is needed
  void **managed = nullptr;       // where the program keeps the address of a managed variable
  const void *module = nullptr;
};

// Filled by static constructors, before and after which anything may happen: never destroyed.
struct Registrations {
  std::mutex mutex;
  std::unordered_map<const void *, Function> functions;  // by host function
  std::unordered_map<const void *, Variable> variables;  // by host address
  std::unordered_multimap<std::string, Provided> provided;  // by name as written: kernels' own variables
};

Registrations &registrations() {
  static Registrations &all = *new Registrations;
  return all;
}

void note_symbol(void *address, size_t bytes) {
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(address);
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::symbol;
  allocation.device = current_device_index();
  runtime().allocations.add(allocation);
}

// "/src/a.cu" → "a_cu".
std::string file_word(std::string file) {
  file.erase(0, file.rfind('/') + 1);
  for (char &c : file)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return file;
}

// "/src/k.cuh:3 (/src/a.cu)" and "/src/a.cu:7" → "a_cu", as nvcc spells files in names.
std::string unit_of(const Kernel &kernel) {
  const std::string &source = kernel.source;
  const size_t open = source.rfind(" (");
  const bool named = open != std::string::npos && source.back() == ')';
  return file_word(named ? source.substr(open + 2, source.size() - open - 3) : source.substr(0, source.rfind(':')));
}

// "…_GLOBAL__N__06ea5dd8_4_a_cu_d3708d55…" and "…_INTERNAL_…" → "a_cu".
std::string file_in(const std::string &name) {
  for (const char *const mark : {"_GLOBAL__N__", "_INTERNAL_"}) {
    size_t at = name.find(mark);
    if (at == std::string::npos) continue;
    at = name.find('_', at + std::strlen(mark));
    if (at == std::string::npos) continue;
    char *end = nullptr;
    const unsigned long length = std::strtoul(name.c_str() + at + 1, &end, 10);
    const size_t first = size_t(end - name.c_str()) + 1;
    if (*end == '_' && length && first + length <= name.size()) return name.substr(first, length);
  }
  return {};
}

// Under the mutex. The kernels that a name of nvcc's may mean: several files may have a static one.
std::vector<Kernel *> kernels_called(const std::string &name) {
  if (Kernel *exact = find_kernel_named(name.c_str())) return {exact};
  const std::string wanted = canonical_name(name.c_str());
  std::vector<Kernel *> found;
  for (Kernel *kernel : all_kernels())
    if (canonical_name(kernel->name.c_str()) == wanted) found.push_back(kernel);
  return found;
}

// Whether one unit alone can have the kernel: instances of templates may be in several.
bool is_of_one_unit(const Kernel &kernel) {
  return has_internal_linkage(kernel.name.c_str()) || canonical_name(kernel.name.c_str()).find('<') == std::string::npos;
}

// Under the mutex. The file of a module, from the names in it; empty if none of them says it.
std::string file_of_module(const Registrations &all, const void *module) {
  for (const auto &entry : all.functions) {
    if (entry.second.module != module) continue;
    const std::string file = file_in(entry.second.name);
    if (!file.empty()) return file;
    const std::vector<Kernel *> same = kernels_called(entry.second.name);
    if (same.size() == 1 && is_of_one_unit(*same[0])) return unit_of(*same[0]);
  }
  for (const auto &entry : all.variables)
    if (entry.second.module == module && !file_in(entry.second.name).empty()) return file_in(entry.second.name);
  return {};
}

// Under the mutex. Of several kernels, the one of the module's own file.
Kernel *kernel_for(const Registrations &all, const Function &function) {
  const std::vector<Kernel *> candidates = kernels_called(function.name);
  if (candidates.size() == 1) return candidates[0];
  const std::string file = candidates.empty() ? "" : file_of_module(all, function.module);
  Kernel *chosen = nullptr;
  for (Kernel *candidate : candidates) {
    if (file.empty() || unit_of(*candidate) != file) continue;
    if (chosen) return nullptr;  // two files of one name
    chosen = candidate;
  }
  return chosen;
}

// Under the mutex. The kernels' variable of that name; null if there is none, or if several files have
// one and which is meant cannot be told.
const Provided *provided_for(const Registrations &all, const Variable &variable, bool *ambiguous) {
  const auto range = all.provided.equal_range(without_unnamed(canonical_name(variable.name.c_str())));
  const bool several = range.first != range.second && std::next(range.first) != range.second;
  const std::string file = several ? file_of_module(all, variable.module) : "";
  const Provided *chosen = nullptr;
  *ambiguous = several && file.empty();
  for (auto at = range.first; at != range.second && !*ambiguous; ++at) {
    if (several && at->second.file != file) continue;
    *ambiguous = chosen != nullptr;  // two files of one name
    chosen = &at->second;
  }
  *ambiguous |= several && !chosen;
  return *ambiguous || !chosen || chosen->bytes != variable.bytes ? nullptr : chosen;
}

// Under the mutex. A variable that no kernel's code provides gets zeroed memory of its own.
cudaError_t settle(Registrations &all, Variable &variable) {
  bool ambiguous = false;
  if (const Provided *found = provided_for(all, variable, &ambiguous)) {
    variable.address = found->address;
    note_symbol(variable.address, variable.bytes);
  } else if (ambiguous) {
    trace_note("variable that several files have", variable.name.c_str());
    return cudaErrorInvalidSymbol;
  } else if (!variable.address) {
    trace_note("variable that no kernel's code has", variable.name.c_str());
    variable.address = std::calloc(1, variable.bytes ? variable.bytes : 1);
    if (!variable.address) return cudaErrorMemoryAllocation;
    note_symbol(variable.address, variable.bytes);
  }
  if (variable.managed) *variable.managed = variable.address;
  return cudaSuccess;
}

}  // namespace

Kernel *registered_kernel(const void *host_function, const char **name) {
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  const auto found = all.functions.find(host_function);
  if (found == all.functions.end()) return nullptr;
  *name = found->second.name.c_str();
  Kernel *kernel = kernel_for(all, found->second);
  if (kernel) bind_address(host_function, *kernel);
  return kernel;
}

cudaError_t find_symbol(const void *symbol, void **address, size_t *bytes) {
  Registrations &all = registrations();
  {
    std::lock_guard<std::mutex> guard(all.mutex);
    const auto found = all.variables.find(symbol);
    if (found != all.variables.end()) {
      const cudaError_t error = settle(all, found->second);
      *address = found->second.address;
      *bytes = found->second.bytes;
      return error;
    }
  }
  Allocation allocation;
  if (!symbol || !runtime().allocations.find(symbol, &allocation) || allocation.kind != MemoryKind::symbol ||
      allocation.base != reinterpret_cast<uintptr_t>(symbol))
    return cudaErrorInvalidSymbol;
  *address = const_cast<void *>(symbol);
  *bytes = allocation.bytes;
  return cudaSuccess;
}

typedef void (*SymbolVisitor)(void *context, const char *name, void *address, size_t bytes);

void visit_symbols(SymbolVisitor visit, void *context) {
  std::map<void *, std::pair<std::string, size_t>> all;
  runtime().allocations.for_each([&](const Allocation &allocation) {
    if (allocation.kind == MemoryKind::symbol) all[reinterpret_cast<void *>(allocation.base)] = {"", allocation.bytes};
  });
  {
    Registrations &known = registrations();
    std::lock_guard<std::mutex> guard(known.mutex);
    for (const auto &entry : known.provided) all[entry.second.address] = {entry.first, entry.second.bytes};
    for (const auto &entry : known.variables)
      if (entry.second.address) all[entry.second.address] = {entry.second.name, entry.second.bytes};
  }
  for (const auto &entry : all) visit(context, entry.second.first.c_str(), entry.first, entry.second.second);
}

}  // namespace tile_migrate

using namespace tile_migrate;

// A variable of device code that was compiled apart from the program that names it.
TM_EXPORT int tm_register_variable(const char *name, void *address, uint64_t bytes, const char *unit) {
  if (!name || !address || !unit) return cudaErrorInvalidValue;
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  all.provided.emplace(name, Provided{address, size_t(bytes), file_word(unit)});
  for (auto &entry : all.variables)
    if (entry.second.managed && entry.second.address) settle(all, entry.second);
  return cudaSuccess;
}

// A variable that host and device code share, as in programs built by one host compiler.
TM_EXPORT void tm_note_symbol(const void *address, size_t bytes) {
  Allocation found;
  if (!runtime().allocations.find(address, &found)) note_symbol(const_cast<void *>(address), bytes);
}

TM_EXPORT void **__cudaRegisterFatBinary(void *image) {
  leave(Api::__cudaRegisterFatBinary, cudaSuccess);
  return reinterpret_cast<void **>(new void *(image));
}

TM_EXPORT void __cudaRegisterFatBinaryEnd(void **) { leave(Api::__cudaRegisterFatBinaryEnd, cudaSuccess); }

TM_EXPORT void __cudaUnregisterFatBinary(void **module) {
  leave(Api::__cudaUnregisterFatBinary, cudaSuccess);
  delete reinterpret_cast<void **>(module);
}

TM_EXPORT char __cudaInitModule(void **module) {
  leave(Api::__cudaInitModule, cudaSuccess);
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  for (auto &entry : all.variables)
    if (entry.second.module == module && entry.second.managed) settle(all, entry.second);
  return 1;
}

TM_EXPORT void __cudaRegisterFunction(void **module, const char *host_function, char *, const char *name, int, uint3 *,
                                      uint3 *, dim3 *, dim3 *, int *) {
  leave(Api::__cudaRegisterFunction, cudaSuccess);
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  all.functions[host_function] = Function{name, module};
}

TM_EXPORT void __cudaRegisterVar(void **module, char *host_variable, char *, const char *name, int, size_t bytes, int,
                                 int) {
  leave(Api::__cudaRegisterVar, cudaSuccess);
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  Variable &variable = all.variables[host_variable];
  variable.name = name;
  variable.bytes = bytes;
  variable.module = module;
}

TM_EXPORT void __cudaRegisterManagedVar(void **module, void **host_pointer, char *, const char *name, int,
                                        size_t bytes, int, int) {
  leave(Api::__cudaRegisterManagedVar, cudaSuccess);
  Registrations &all = registrations();
  std::lock_guard<std::mutex> guard(all.mutex);
  Variable &variable = all.variables[host_pointer];
  variable.name = name;
  variable.bytes = bytes;
  variable.managed = host_pointer;
  variable.module = module;
}

namespace {

cudaError_t copy_symbol(bool to_symbol, const void *symbol, void *other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  void *address = nullptr;
  size_t size = 0;
  const cudaError_t error = find_symbol(symbol, &address, &size);
  if (error != cudaSuccess) return error;
  if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
  if (kind == (to_symbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice) || kind == cudaMemcpyHostToHost)
    return cudaErrorInvalidMemcpyDirection;
  CopyBox box;
  box.width = bytes;
  box.to = to_symbol ? static_cast<char *>(address) + offset : static_cast<char *>(other);
  box.from = to_symbol ? static_cast<const char *>(other) : static_cast<const char *>(address) + offset;
  return copy(box, kind, stream, synchronous);
}

}  // namespace

TM_EXPORT cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
  return entry(Api::cudaGetSymbolAddress, [&] {
    size_t bytes = 0;
    return pointer ? find_symbol(symbol, pointer, &bytes) : cudaErrorInvalidValue;
  });
}

TM_EXPORT cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  return entry(Api::cudaGetSymbolSize, [&] {
    void *address = nullptr;
    return bytes ? find_symbol(symbol, &address, bytes) : cudaErrorInvalidValue;
  });
}

TM_EXPORT cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                         cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpyToSymbol, [&] {
    return copy_symbol(true, symbol, const_cast<void *>(from), bytes, offset, kind, nullptr, true);
  });
}

TM_EXPORT cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                           cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpyFromSymbol,
               [&] { return copy_symbol(false, symbol, to, bytes, offset, kind, nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                              cudaMemcpyKind kind, cudaStream_t stream) {
  return entry(Api::cudaMemcpyToSymbolAsync, [&] {
    return copy_symbol(true, symbol, const_cast<void *>(from), bytes, offset, kind, stream, false);
  });
}

TM_EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                                cudaMemcpyKind kind, cudaStream_t stream) {
  return entry(Api::cudaMemcpyFromSymbolAsync,
               [&] { return copy_symbol(false, symbol, to, bytes, offset, kind, stream, false); });
}
