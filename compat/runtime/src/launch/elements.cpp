// Elements and arguments as text and numbers, for the modes check and record.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "modes.h"
#include "snapshot.h"

namespace tile_migrate {

namespace {

template <class T>
T load(const uint8_t *at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

double half_value(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude = exponent == 0    ? ldexp(mantissa, -24)
                     : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                      : ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

float bfloat_value(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}

std::string hexadecimal(const uint8_t *at, size_t bytes) {
  std::string text = "0x";
  for (size_t i = bytes; i-- > 0;) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", at[i]);
    text += digits;
  }
  return text;
}

const struct {
  const char *name;
  size_t bytes;
} kElements[] = {{"byte", 1},   {"int8", 1},   {"uint8", 1},   {"int16", 2},    {"uint16", 2},  {"int32", 4},  {"uint32", 4},
                 {"int64", 8},  {"uint64", 8}, {"float16", 2}, {"bfloat16", 2}, {"float32", 4}, {"float64", 8}};
constexpr int kElementCount = sizeof kElements / sizeof *kElements;

int known(int element) { return element >= 0 && element < kElementCount ? element : TM_ELEMENT_UNKNOWN; }

}  // namespace

const char *element_name(int element) { return kElements[known(element)].name; }
size_t element_bytes(int element) { return kElements[known(element)].bytes; }
bool element_is_float(int element) { return element >= TM_ELEMENT_FLOAT16 && element <= TM_ELEMENT_FLOAT64; }

double element_value(int element, const uint8_t *at) {
  switch (element) {
    case TM_ELEMENT_INT8: return load<int8_t>(at);
    case TM_ELEMENT_INT16: return load<int16_t>(at);
    case TM_ELEMENT_UINT16: return load<uint16_t>(at);
    case TM_ELEMENT_INT32: return load<int32_t>(at);
    case TM_ELEMENT_UINT32: return load<uint32_t>(at);
    case TM_ELEMENT_INT64: return (double)load<int64_t>(at);
    case TM_ELEMENT_UINT64: return (double)load<uint64_t>(at);
    case TM_ELEMENT_FLOAT16: return half_value(load<uint16_t>(at));
    case TM_ELEMENT_BFLOAT16: return bfloat_value(load<uint16_t>(at));
    case TM_ELEMENT_FLOAT32: return load<float>(at);
    case TM_ELEMENT_FLOAT64: return load<double>(at);
    default: return *at;
  }
}

std::string element_text(int element, const uint8_t *at) {
  char text[64];
  switch (element) {
    case TM_ELEMENT_INT64: return std::to_string(load<int64_t>(at));
    case TM_ELEMENT_UINT64: return std::to_string(load<uint64_t>(at));
    case TM_ELEMENT_FLOAT64: snprintf(text, sizeof text, "%.17g", load<double>(at)); return text;
    case TM_ELEMENT_UNKNOWN: return hexadecimal(at, 1);
    default: snprintf(text, sizeof text, "%.9g", element_value(element, at)); return text;
  }
}

std::string argument_text(const tm_parameter &parameter, const void *value, bool json) {
  const uint8_t *bytes = (const uint8_t *)value;
  bool scalar = !parameter.is_pointer && parameter.element != TM_ELEMENT_UNKNOWN &&
                element_bytes(parameter.element) == parameter.bytes;
  std::string text;
  if (parameter.is_pointer || !scalar) text = hexadecimal(bytes, parameter.bytes);
  else text = element_text(parameter.element, bytes);
  if (!json && !parameter.is_pointer && !scalar && parameter.bytes == 4) text += " (" + std::to_string(load<int32_t>(bytes)) + ")";
  return json ? json_text(text) : text;
}

std::string json_text(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if ((unsigned char)c < 0x20) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace tile_migrate
