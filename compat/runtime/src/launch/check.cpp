// Mode check: the kept and the migrated implementation of each launch, on the same memory.
//
// Both run at the same addresses one after the other, so pointers stored in memory stay right. The
// program goes on with what the kept implementation computed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "memory.h"
#include "modes.h"
#include "snapshot.h"

namespace tile_migrate {

namespace {

constexpr uint64_t kToldLaunches = 5;  // differing launches of a kernel that stderr shows

struct Tally {
  uint64_t launches = 0, equal = 0, different = 0, unchecked = 0;
  bool compared[kKinds] = {};
  double max_absolute = 0, max_relative = 0;
  std::string reason;  // of the first that was not checked
};

struct Difference {
  size_t region = 0, offset = 0;  // of the first differing element
  int element = TM_ELEMENT_UNKNOWN;
  uint64_t differing = 0;
  double max_absolute = 0, max_relative = 0;
};

struct Check {
  std::mutex mutex;  // launches are compared one at a time
  std::map<const Kernel *, Tally> tallies;
  double tolerance = 0;
  FILE *report = nullptr;
  Check() {
    const char *text = getenv("TILE_MIGRATE_CHECK_RTOL");
    if (text && *text) {
      char *end;
      tolerance = strtod(text, &end);
      if (*end || !(tolerance >= 0)) {
        fprintf(stderr, "tile-migrate: TILE_MIGRATE_CHECK_RTOL=%s is no tolerance: 0 is used\n", text);
        tolerance = 0;
      }
    }
    const char *path = getenv("TILE_MIGRATE_CHECK_REPORT");
    if (path && *path && !(report = fopen(path, "w")))
      fprintf(stderr, "tile-migrate: TILE_MIGRATE_CHECK_REPORT: cannot write %s\n", path);
  }
  void write(const std::string &line) {
    if (!report) return;
    fputs((line + "\n").c_str(), report);
    fflush(report);
  }
};

// Never destroyed: the summary is written while the process exits.
Check *check_state;
Check &check() {
  static Check *only = check_state = new Check;
  return *only;
}

// Where the elements of a region begin: at the pointer that leads there.
size_t phase_of(const Region &region, const tm_kernel_record &record, void **arguments, int element) {
  size_t size = element_bytes(element);
  if (region.parameter < 0 || !record.parameters[region.parameter].is_pointer) return 0;
  uint64_t pointer;
  memcpy(&pointer, arguments[region.parameter], 8);
  return (pointer - (uint64_t)region.base) % size;
}

bool same_element(int element, const uint8_t *kept, const uint8_t *migrated, double tolerance, Difference *found) {
  if (memcmp(kept, migrated, element_bytes(element)) == 0) return true;
  if (!element_is_float(element)) return false;
  double a = element_value(element, kept), b = element_value(element, migrated);
  if (isnan(a) && isnan(b)) return true;
  double absolute = fabs(a - b), relative = a == b ? 0 : absolute / fmax(fabs(a), fabs(b));
  if (isnan(absolute) || isinf(absolute)) absolute = relative = INFINITY;
  found->max_absolute = fmax(found->max_absolute, absolute);
  found->max_relative = fmax(found->max_relative, relative);
  return tolerance > 0 && relative <= tolerance;
}

bool equal_contents(const std::vector<Region> &regions, const Contents &kept, const Contents &migrated,
                    const tm_kernel_record &record, void **arguments, double tolerance, Difference *found) {
  for (size_t i = 0; i < regions.size(); ++i) {
    if (kept[i] == migrated[i]) continue;
    const Region &region = regions[i];
    int element = region.element;
    if (region.parameter >= 0 && record.parameters[region.parameter].is_pointer) element = record.parameters[region.parameter].element;
    size_t size = element_bytes(element), phase = phase_of(region, record, arguments, element);
    auto compare = [&](int as, size_t at) {
      if (same_element(as, &kept[i][at], &migrated[i][at], tolerance, found)) return;
      if (!found->differing++) found->region = i, found->offset = at, found->element = as;
    };
    size_t at = 0;
    for (; at < phase; ++at) compare(TM_ELEMENT_UNKNOWN, at);
    for (; at + size <= region.bytes; at += size) compare(element, at);
    for (; at < region.bytes; ++at) compare(TM_ELEMENT_UNKNOWN, at);
  }
  return found->differing == 0;
}

std::string dimensions(const uint32_t d[3]) {
  return std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " + std::to_string(d[2]);
}

std::string arguments_text(const tm_kernel_record &record, void **arguments, bool json) {
  std::string text;
  for (uint32_t i = 0; i < record.parameter_count; ++i) {
    std::string name = parameter_name(record, (int)i);
    text += (i ? ", " : "") + (json ? json_text(name) + ": " : name + "=");
    text += argument_text(record.parameters[i], arguments[i], json);
  }
  return text;
}

// "c[17]" by the pointer passed, else the symbol's or memory's name and the byte.
std::string place(const Region &region, const Difference &d, const tm_kernel_record &record, void **arguments,
                  std::string *name, int64_t *index) {
  size_t size = element_bytes(d.element);
  *index = (int64_t)(d.offset / size);
  if (region.parameter >= 0) {
    *name = parameter_name(record, region.parameter);
    if (record.parameters[region.parameter].is_pointer) {
      uint64_t pointer;
      memcpy(&pointer, arguments[region.parameter], 8);
      *index = ((int64_t)d.offset - (int64_t)(pointer - (uint64_t)region.base)) / (int64_t)size;
    }
  } else {
    *name = region.symbol.empty() ? "memory reached through other memory" : region.symbol;
  }
  return *name + "[" + std::to_string(*index) + "]";
}

void tell(const Kernel &kernel, const char *kind, const tm_launch &launch, void **arguments, const Difference &d,
          const std::vector<Region> &regions, const Contents &kept, const Contents &migrated, bool on_stderr) {
  const tm_kernel_record &record = *kernel.description();
  std::string name;
  int64_t index;
  std::string where = place(regions[d.region], d, record, arguments, &name, &index);
  std::string a = element_text(d.element, &kept[d.region][d.offset]), b = element_text(d.element, &migrated[d.region][d.offset]);
  if (on_stderr)
    fprintf(stderr,
            "tile-migrate: check: %s, launch %llu: %s (%s) is %s kept, %s as %s; %llu elements differ, by up to %g (relative %g)\n"
            "  grid (%s), block (%s), shared %llu; %s\n",
            kernel.signature.c_str(), (unsigned long long)launch.number, where.c_str(), element_name(d.element), a.c_str(),
            b.c_str(), kind, (unsigned long long)d.differing, d.max_absolute, d.max_relative, dimensions(launch.grid).c_str(),
            dimensions(launch.block).c_str(), (unsigned long long)launch.shared_bytes,
            arguments_text(record, arguments, false).c_str());
  check().write("{\"event\": \"difference\", \"kernel\": " + json_text(kernel.signature) + ", \"mangled\": " + json_text(kernel.name) +
                ", \"launch\": " + std::to_string(launch.number) + ", \"kind\": \"" + kind + "\", \"argument\": " + json_text(name) +
                ", \"index\": " + std::to_string(index) + ", \"element\": \"" + element_name(d.element) + "\", \"kept\": " +
                json_text(a) + ", \"migrated\": " + json_text(b) + ", \"differing\": " + std::to_string(d.differing) +
                ", \"grid\": [" + dimensions(launch.grid) + "], \"block\": [" + dimensions(launch.block) + "], \"shared_bytes\": " +
                std::to_string(launch.shared_bytes) + ", \"arguments\": {" + arguments_text(record, arguments, true) + "}}");
}

std::string json_number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", value);
  return isfinite(value) ? text : "null";
}

__attribute__((destructor)) void summarise() {
  if (!check_state) return;
  bool different = false;
  for (const auto &[kernel, tally] : check_state->tallies) {
    different |= tally.different != 0;
    fprintf(stderr, "tile-migrate: check: %s: %llu launches, %llu equal, %llu different, %llu not checked%s%s%s\n",
            kernel->signature.c_str(), (unsigned long long)tally.launches, (unsigned long long)tally.equal,
            (unsigned long long)tally.different, (unsigned long long)tally.unchecked, tally.unchecked ? " (" : "",
            tally.reason.c_str(), tally.unchecked ? ")" : "");
    std::string kinds;
    for (int kind = 0; kind < kKinds; ++kind)
      if (tally.compared[kind]) kinds += std::string(kinds.empty() ? "\"" : ", \"") + kKindNames[kind] + "\"";
    check_state->write("{\"event\": \"summary\", \"kernel\": " + json_text(kernel->signature) + ", \"mangled\": " +
                       json_text(kernel->name) + ", \"launches\": " + std::to_string(tally.launches) + ", \"equal\": " +
                       std::to_string(tally.equal) + ", \"different\": " + std::to_string(tally.different) + ", \"unchecked\": " +
                       std::to_string(tally.unchecked) + ", \"kinds\": [" + kinds + "], \"tolerance\": " + json_number(check_state->tolerance) + ", \"reason\": " + json_text(tally.reason) + ", \"max_absolute\": " +
                       json_number(tally.max_absolute) + ", \"max_relative\": " + json_number(tally.max_relative) + "}");
  }
  const char *status = getenv("TILE_MIGRATE_CHECK_EXIT");
  if (different && status && *status) {
    fflush(nullptr);
    _exit(atoi(status));
  }
}

}  // namespace

int run_checked(Kernel &kernel, const Choice &choice, const tm_launch &launch, void **arguments) {
  Check &state = check();
  std::lock_guard<std::mutex> lock(state.mutex);
  Tally &tally = state.tallies[&kernel];
  ++tally.launches;
  auto unchecked = [&](const std::string &reason) {
    if (!tally.unchecked++) tally.reason = reason;
    return run_chosen(kernel, Choice{{TM_KIND_KEPT}, 1, false, false}, launch, arguments);
  };
  if (choice.count == 0 || choice.order[choice.count - 1] != TM_KIND_KEPT) {
    if (!tally.unchecked++) tally.reason = "no kept implementation";
    return run_chosen(kernel, choice, launch, arguments);
  }
  if (choice.count == 1) return unchecked("no migrated implementation");
  std::vector<Region> regions;
  std::string why;
  if (!settle_memory(launch, &why)) return unchecked(why);
  if (!reachable_memory(*kernel.description(), arguments, &regions, &why)) return unchecked(why);

  Contents before = read_contents(regions);
  int error = run_implementation(kernel, TM_KIND_KEPT, launch, arguments);
  if (error) {
    if (!tally.unchecked++) tally.reason = "the kept implementation failed with error " + std::to_string(error);
    return error;
  }
  Contents kept = read_contents(regions);
  write_contents(regions, before);
  int kind = TM_KIND_KEPT;
  for (int i = 0; i + 1 < choice.count; ++i) {
    kind = choice.order[i];
    error = run_implementation(kernel, kind, launch, arguments);
    if (error != TM_NOT_APPLICABLE) break;
  }
  Contents migrated = read_contents(regions);
  write_contents(regions, kept);
  if (error == TM_NOT_APPLICABLE) {
    if (!tally.unchecked++) tally.reason = "not applicable to these arguments";
    return 0;
  }
  tally.compared[kind] = true;
  Difference difference;
  if (error) {
    ++tally.different;
    fprintf(stderr, "tile-migrate: check: %s, launch %llu: the %s implementation failed with error %d\n", kernel.signature.c_str(),
            (unsigned long long)launch.number, kKindNames[kind], error);
    state.write("{\"event\": \"failure\", \"kernel\": " + json_text(kernel.signature) + ", \"mangled\": " + json_text(kernel.name) +
                ", \"launch\": " + std::to_string(launch.number) + ", \"kind\": \"" + kKindNames[kind] + "\", \"error\": " +
                std::to_string(error) + "}");
    return 0;
  }
  bool equal = equal_contents(regions, kept, migrated, *kernel.description(), arguments, state.tolerance, &difference);
  tally.max_absolute = fmax(tally.max_absolute, difference.max_absolute);
  tally.max_relative = fmax(tally.max_relative, difference.max_relative);
  if (equal) {
    ++tally.equal;
    return 0;
  }
  ++tally.different;
  tell(kernel, kKindNames[kind], launch, arguments, difference, regions, kept, migrated, tally.different <= kToldLaunches);
  return 0;
}

}  // namespace tile_migrate
