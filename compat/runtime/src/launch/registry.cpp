// Kernels by mangled name and by host function. Registration takes a mutex; finding does not.
#include <cxxabi.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "launch.h"

namespace tile_migrate {

const char *const kKindNames[kKinds] = {"kept", "tile", "loop", "simt"};

namespace {

constexpr int kInvalidValueError = 1;

// An open-addressing map of addresses that readers walk without a lock. A grown table replaces the
// old one, which stays: its readers may still be inside.
struct Table {
  struct Slot {
    std::atomic<const void *> key{nullptr};
    std::atomic<Kernel *> value{nullptr};
  };
  size_t mask;
  size_t used = 0;
  std::unique_ptr<Slot[]> slots;
  explicit Table(size_t capacity) : mask(capacity - 1), slots(new Slot[capacity]) {}
  Slot &slot(const void *key) const {
    size_t at = (uint64_t)key * 0x9e3779b97f4a7c15ULL >> 20;
    for (;; ++at) {
      Slot &candidate = slots[at & mask];
      const void *found = candidate.key.load(std::memory_order_acquire);
      if (found == key || !found) return candidate;
    }
  }
};

struct Registry {
  std::mutex mutex;
  std::atomic<Table *> addresses{new Table(256)};
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::unordered_multimap<std::string, Kernel *> by_name;

  void bind(const void *address, Kernel *kernel) {
    Table *table = addresses.load();
    if (2 * table->used > table->mask) {
      Table *larger = new Table(2 * (table->mask + 1));
      for (size_t i = 0; i <= table->mask; ++i)
        if (const void *key = table->slots[i].key.load()) put(*larger, key, table->slots[i].value.load());
      addresses.store(larger, std::memory_order_release);
      table = larger;
    }
    put(*table, address, kernel);
  }
  static void put(Table &table, const void *key, Kernel *kernel) {
    Table::Slot &slot = table.slot(key);
    slot.value.store(kernel, std::memory_order_release);
    if (slot.key.load()) return;
    slot.key.store(key, std::memory_order_release);
    ++table.used;
  }
};

// Registration runs in static constructors, lookups while the process exits.
Registry &registry() {
  static Registry *only = new Registry;
  return *only;
}

// Where a template argument or parameter list that ends at `end` begins.
size_t opening(const std::string &text, size_t end, char open, char close) {
  int depth = 0;
  for (size_t i = end + 1; i-- > 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return std::string::npos;
}

// "void ns::scale<float>(float*, int)" → "ns::scale<float>".
std::string without_parameters(std::string text) {
  if (!text.empty() && text.back() == ')') {
    size_t at = opening(text, text.size() - 1, '(', ')');
    if (at != std::string::npos) text.erase(at);
  }
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    char c = text[i];
    if (c == '>' || c == ')') ++depth;
    if (c == '<' || c == '(') --depth;
    if (c == ' ' && depth == 0) return text.substr(i + 1);
  }
  return text;
}

void name_parts(Kernel *kernel) {
  int status = 0;
  char *demangled = abi::__cxa_demangle(kernel->name.c_str(), nullptr, nullptr, &status);
  kernel->signature = status == 0 && demangled ? without_parameters(demangled) : kernel->name;
  free(demangled);
  std::string &whole = kernel->signature;
  whole.erase(std::remove(whole.begin(), whole.end(), ' '), whole.end());
  kernel->qualified = whole;
  if (!whole.empty() && whole.back() == '>') {
    size_t at = opening(whole, whole.size() - 1, '<', '>');
    if (at != std::string::npos && at) kernel->qualified = whole.substr(0, at);
  }
  size_t last = kernel->qualified.rfind("::");
  kernel->plain = last == std::string::npos ? kernel->qualified : kernel->qualified.substr(last + 2);
}

// Under the mutex. Null: several kernels have this name, none this source.
Kernel *named(Registry &r, const char *mangled, const char *source) {
  auto range = r.by_name.equal_range(mangled);
  if (range.first == range.second) return nullptr;
  if (!has_internal_linkage(mangled)) return range.first->second;
  if (!source) return std::next(range.first) == range.second ? range.first->second : nullptr;
  for (auto at = range.first; at != range.second; ++at)
    if (at->second->source == source) return at->second;
  return nullptr;
}

}  // namespace

// "_ZL1kv", "_ZN2nsL1kEv", and names through an anonymous namespace.
bool has_internal_linkage(const char *mangled) {
  if (strncmp(mangled, "_ZL", 3) == 0 || strstr(mangled, "_GLOBAL__N_")) return true;
  if (strncmp(mangled, "_ZN", 3) != 0) return false;
  for (const char *at = mangled + 3;;) {
    if (*at == 'L') return true;
    char *end;
    const unsigned long length = strtoul(at, &end, 10);
    if (end == at || length > strlen(end)) return false;
    at = end + length;
  }
}

const tm_kernel_record *Kernel::description() const {
  for (const auto &record : records)
    if (const tm_kernel_record *found = record.load(std::memory_order_acquire)) return found;
  return nullptr;
}

Kernel *find_kernel(const void *host_function) {
  if (!host_function) return nullptr;
  const Table::Slot &slot = registry().addresses.load(std::memory_order_acquire)->slot(host_function);
  return slot.key.load(std::memory_order_acquire) ? slot.value.load(std::memory_order_acquire) : nullptr;
}

Kernel *find_kernel_named(const char *mangled) {
  if (!mangled) return nullptr;
  if (Kernel *known = find_kernel(mangled)) return known;
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  return named(r, mangled, nullptr);
}

bool bind_host_function(const void *host_function, const char *mangled) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  Kernel *kernel = host_function && mangled ? named(r, mangled, nullptr) : nullptr;
  if (kernel) r.bind(host_function, kernel);
  return kernel != nullptr;
}

void bind_address(const void *address, Kernel &kernel) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  r.bind(address, &kernel);
}

std::vector<Kernel *> all_kernels() {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  std::vector<Kernel *> result;
  for (const auto &kernel : r.kernels) result.push_back(kernel.get());
  return result;
}

}  // namespace tile_migrate

using namespace tile_migrate;

extern "C" {
#pragma GCC visibility push(default)

int tm_has_internal_linkage(const char *mangled) { return has_internal_linkage(mangled); }

int tm_register_kernel(const tm_kernel_record *record) {
  if (!record || record->abi != TM_ABI_VERSION || record->kind < 0 || record->kind >= kKinds ||
      !record->mangled || !*record->mangled || !record->implementation)
    return kInvalidValueError;
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  Kernel *kernel = named(r, record->mangled, record->source ? record->source : "");
  if (!kernel) {
    kernel = new Kernel;
    kernel->name = record->mangled;
    kernel->source = record->source ? record->source : "";
    name_parts(kernel);
    r.kernels.emplace_back(kernel);
    r.by_name.emplace(kernel->name, kernel);
    r.bind(kernel->name.c_str(), kernel);
  }
  auto &same = kernel->registered[record->kind];
  if (std::find(same.begin(), same.end(), record) == same.end()) same.push_back(record);
  kernel->records[record->kind].store(same.front(), std::memory_order_release);
  kernel->choice.store(nullptr, std::memory_order_release);
  if (record->host_function) r.bind(record->host_function, kernel);
  return 0;
}

void tm_unregister_kernel(const tm_kernel_record *record) {
  if (!record || record->kind < 0 || record->kind >= kKinds) return;
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  for (const auto &kernel : r.kernels) {
    auto &same = kernel->registered[record->kind];
    auto at = std::find(same.begin(), same.end(), record);
    if (at == same.end()) continue;
    same.erase(at);
    kernel->records[record->kind].store(same.empty() ? nullptr : same.front(), std::memory_order_release);
    kernel->choice.store(nullptr, std::memory_order_release);
  }
}

#pragma GCC visibility pop
}  // extern "C"
