#include "trace.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

#include "../launch/launch.h"

namespace tile_migrate {

namespace {

constexpr size_t api_count = size_t(Api::count);
constexpr const char *api_names[] = {
#define TM_API_NAME(name) #name,
#include "names.inc"
#undef TM_API_NAME
};

struct Counts {
  std::atomic<uint64_t> served[api_count], refused[api_count], failed[api_count];
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, uint64_t> notes;
};

Counts &counts() {
  static Counts &all = *new Counts();
  return all;
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

}  // namespace

void count_call(Api api, cudaError_t error) noexcept {
  Counts &all = counts();
  auto &counter = error == cudaErrorNotSupported ? all.refused
                  : error == cudaSuccess || error == cudaErrorNotReady ? all.served : all.failed;
  counter[size_t(api)].fetch_add(1, std::memory_order_relaxed);
}

void trace_note(const char *what, const char *detail) noexcept {
  Counts &all = counts();
  std::lock_guard<std::mutex> guard(all.mutex);
  ++all.notes[{what, detail ? detail : ""}];
}

// One JSON object a line: "api" for a function, "kernel" for a kernel, "note" for what went wrong.
void write_trace() {
  const char *path = std::getenv("TILE_MIGRATE_TRACE");
  if (!path || !*path) return;
  std::FILE *file = std::strcmp(path, "-") == 0 ? stderr : std::fopen(path, "a");
  if (!file) return;
  Counts &all = counts();
  std::string text = "{\"event\": \"process\", \"pid\": " + std::to_string(getpid()) + "}\n";
  for (size_t i = 0; i < api_count; ++i) {
    const uint64_t served = all.served[i].load(), refused = all.refused[i].load(), failed = all.failed[i].load();
    if (!served && !refused && !failed) continue;
    text += "{\"event\": \"api\", \"name\": \"" + std::string(api_names[i]) +
            "\", \"served\": " + std::to_string(served) + ", \"failed\": " + std::to_string(failed) +
            ", \"refused\": " + std::to_string(refused) + "}\n";
  }
  {
    std::lock_guard<std::mutex> guard(all.mutex);
    for (const auto &note : all.notes)
      text += "{\"event\": \"note\", \"what\": " + quoted(note.first.first) +
              ", \"detail\": " + quoted(note.first.second) + ", \"count\": " + std::to_string(note.second) + "}\n";
  }
  text += launch_summary();
  std::fwrite(text.data(), 1, text.size(), file);
  if (file != stderr) std::fclose(file);
}

}  // namespace tile_migrate
