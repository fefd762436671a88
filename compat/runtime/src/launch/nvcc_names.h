// nvcc's and other compilers' names of one entity, in the same words.
#ifndef TM_NVCC_NAMES_H
#define TM_NVCC_NAMES_H

#include <cxxabi.h>
#include <stdlib.h>
#include <string.h>

#include <string>

namespace tile_migrate {

// "__nv_static_3__abc__Z1kPi" → "_Z1kPi".
inline const char *without_file(const char *name) {
  constexpr char kStatic[] = "__nv_static_";
  if (strncmp(name, kStatic, sizeof kStatic - 1) != 0) return name;
  char *end;
  const unsigned long length = strtoul(name + sizeof kStatic - 1, &end, 10);
  return *end == '_' && length + 2 < strlen(end) ? end + 1 + length + 1 : name;
}

// "_Z1kPi" and "_ZL1kPi" are "k(int*)"; a component "_INTERNAL_…", which stands for the file, goes.
inline std::string canonical_name(const char *name) {
  name = without_file(name);
  int status = 0;
  char *demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = status == 0 && demangled ? demangled : name;
  free(demangled);
  for (size_t at; (at = text.find("_INTERNAL_")) != std::string::npos;) {
    const size_t end = text.find("::", at);
    if (end == std::string::npos) break;
    text.erase(at, end + 2 - at);
  }
  return text;
}

// "(anonymous namespace)::x" → "x", as it is written.
inline std::string without_unnamed(std::string text) {
  constexpr char kUnnamed[] = "(anonymous namespace)::";
  for (size_t at; (at = text.find(kUnnamed)) != std::string::npos;) text.erase(at, sizeof kUnnamed - 1);
  return text;
}

}  // namespace tile_migrate

#endif
