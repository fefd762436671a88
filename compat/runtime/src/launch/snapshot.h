// The memory that a launch can reach: its contents before and after.
#ifndef TM_SNAPSHOT_H
#define TM_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "tm_launch.h"

namespace tile_migrate {

struct Region {
  uint8_t *base;
  size_t bytes;
  int parameter;       // the first that leads here directly; -1: a symbol or a pointer in memory
  std::string symbol;  // its name
  int element = TM_ELEMENT_UNKNOWN;  // of a symbol, where that is known
};

// Whole allocations that pointer arguments (also inside struct arguments) point into, registered
// device symbols, and allocations that aligned words of these point into. Words that only look like
// pointers add more than is needed, which is harmless. False: `why` names an argument whose memory
// is no allocation of the runtime; it could not be put back.
bool reachable_memory(const tm_kernel_record &record, void **arguments, std::vector<Region> *regions,
                      std::string *why);

typedef std::vector<std::vector<uint8_t>> Contents;

// Name and offset of a parameter, for messages: "x", or "argument 2" where it has none.
std::string parameter_name(const tm_kernel_record &record, int index);
// The value of an argument as text, as JSON if `json`.
std::string argument_text(const tm_parameter &parameter, const void *value, bool json);

const char *element_name(int element);
size_t element_bytes(int element);  // 1 if unknown
std::string element_text(int element, const uint8_t *at);
bool element_is_float(int element);
double element_value(int element, const uint8_t *at);

}  // namespace tile_migrate

#endif
