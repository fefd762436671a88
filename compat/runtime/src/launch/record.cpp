// Mode record: launches as files, for `tile-migrate verify --replay`.
//
// <folder>/<kernel>-<launch>/launch.json and, for region i, before-i.bin and after-i.bin: raw bytes.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <map>
#include <mutex>

#include "memory.h"
#include "modes.h"
#include "snapshot.h"

namespace tile_migrate {

namespace {

constexpr int kFormat = 1;

struct Recorder {
  std::mutex mutex;
  std::map<const Kernel *, uint64_t> saved;
  std::string folder;
  uint64_t limit = 3;
  Recorder() {
    const char *path = getenv("TILE_MIGRATE_RECORD");
    folder = path && *path ? path : "tile-migrate-record";
    if (const char *text = getenv("TILE_MIGRATE_RECORD_LIMIT")) {
      char *end;
      unsigned long long value = strtoull(text, &end, 10);
      if (*text && !*end) limit = value;
      else fprintf(stderr, "tile-migrate: TILE_MIGRATE_RECORD_LIMIT=%s is no number: 3 is used\n", text);
    }
  }
};

Recorder &recorder() {
  static Recorder *only = new Recorder;
  return *only;
}

bool make_folder(const std::string &path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) return false;
    if (at == std::string::npos) return true;
  }
}

bool write_file(const std::string &path, const void *data, size_t bytes) {
  FILE *file = fopen(path.c_str(), "wb");
  if (!file) return false;
  bool written = fwrite(data, 1, bytes, file) == bytes;
  return fclose(file) == 0 && written;
}

std::string numbers(const uint32_t d[3]) {
  return "[" + std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " + std::to_string(d[2]) + "]";
}

std::string hexadecimal(const uint8_t *bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

// The argument's bytes as they lie in memory, and for a pointer where it points.
std::string argument_json(const tm_kernel_record &record, uint32_t i, void **arguments, const std::vector<Region> &regions) {
  const tm_parameter &parameter = record.parameters[i];
  std::string text = "{\"name\": " + json_text(parameter.name ? parameter.name : "") + ", \"bytes\": " +
                     std::to_string(parameter.bytes) + ", \"pointer\": " + (parameter.is_pointer ? "true" : "false") +
                     ", \"element\": \"" + element_name(parameter.element) + "\", \"value\": \"" +
                     hexadecimal((const uint8_t *)arguments[i], parameter.bytes) + "\"";
  if (parameter.is_pointer) {
    uint64_t pointer;
    memcpy(&pointer, arguments[i], 8);
    for (size_t r = 0; r < regions.size(); ++r)
      if (pointer - (uint64_t)regions[r].base < regions[r].bytes)
        text += ", \"region\": " + std::to_string(r) + ", \"offset\": " + std::to_string(pointer - (uint64_t)regions[r].base);
  }
  return text + "}";
}

std::string file_name(const std::string &text) {
  std::string out;
  for (char c : text) out += isalnum((unsigned char)c) || c == '_' ? c : '.';
  return out.substr(0, 100);
}

bool save(const Kernel &kernel, const tm_launch &launch, void **arguments, const std::vector<Region> &regions,
          const Contents &before, const Contents &after) {
  const tm_kernel_record &record = *kernel.description();
  std::string folder = recorder().folder + "/" + file_name(kernel.plain) + "-" + std::to_string(launch.number);
  for (int again = 2; mkdir((make_folder(recorder().folder), folder).c_str(), 0777) != 0; ++again) {
    if (errno != EEXIST || again > 1000) return false;
    folder = recorder().folder + "/" + file_name(kernel.plain) + "-" + std::to_string(launch.number) + "." + std::to_string(again);
  }
  std::string text = "{\n  \"format\": " + std::to_string(kFormat) + ",\n  \"kernel\": " + json_text(kernel.signature) +
                     ",\n  \"mangled\": " + json_text(kernel.name) + ",\n  \"source\": " + json_text(kernel.source) +
                     ",\n  \"launch\": " + std::to_string(launch.number) + ",\n  \"grid\": " + numbers(launch.grid) +
                     ",\n  \"block\": " + numbers(launch.block) + ",\n  \"shared_bytes\": " + std::to_string(launch.shared_bytes) +
                     ",\n  \"cooperative\": " + (launch.cooperative ? "true" : "false") + ",\n  \"arguments\": [";
  for (uint32_t i = 0; i < record.parameter_count; ++i) text += (i ? ",\n    " : "\n    ") + argument_json(record, i, arguments, regions);
  text += "\n  ],\n  \"regions\": [";
  for (size_t i = 0; i < regions.size(); ++i) {
    std::string number = std::to_string(i);
    if (!write_file(folder + "/before-" + number + ".bin", before[i].data(), before[i].size())) return false;
    if (!write_file(folder + "/after-" + number + ".bin", after[i].data(), after[i].size())) return false;
    text += std::string(i ? ",\n    " : "\n    ") + "{\"address\": " + std::to_string((uint64_t)regions[i].base) + ", \"bytes\": " +
            std::to_string(regions[i].bytes) + ", \"symbol\": " + json_text(regions[i].symbol) + ", \"before\": \"before-" + number +
            ".bin\", \"after\": \"after-" + number + ".bin\"}";
  }
  text += "\n  ]\n}\n";
  return write_file(folder + "/launch.json", text.data(), text.size());
}

}  // namespace

int run_recorded(Kernel &kernel, const Choice &choice, const tm_launch &launch, void **arguments) {
  Recorder &state = recorder();
  std::lock_guard<std::mutex> lock(state.mutex);
  std::vector<Region> regions;
  std::string why;
  const tm_kernel_record *record = kernel.description();
  if (!record || state.saved[&kernel] >= state.limit) return run_chosen(kernel, choice, launch, arguments);
  if (!settle_memory(launch, &why) || !reachable_memory(*record, arguments, &regions, &why)) {
    fprintf(stderr, "tile-migrate: record: %s, launch %llu is not saved: %s\n", kernel.signature.c_str(),
            (unsigned long long)launch.number, why.c_str());
    return run_chosen(kernel, choice, launch, arguments);
  }
  ++state.saved[&kernel];
  Contents before = read_contents(regions);
  int error = run_chosen(kernel, choice, launch, arguments);
  if (error) return error;
  if (!save(kernel, launch, arguments, regions, before, read_contents(regions)))
    fprintf(stderr, "tile-migrate: record: cannot write below %s: %s\n", state.folder.c_str(), strerror(errno));
  return 0;
}

}  // namespace tile_migrate
