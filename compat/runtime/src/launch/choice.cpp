// The switches of the environment: which implementation of a kernel runs.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "launch.h"

namespace tile_migrate {

namespace {

enum Mode { kKept = TM_KIND_KEPT, kTile = TM_KIND_TILE, kLoop = TM_KIND_LOOP, kSimt = TM_KIND_SIMT, kMigrated, kCheck, kRecord };
const char *const kModeNames[] = {"kept", "tile", "loop", "simt", "migrated", "check", "record"};

struct Rule {
  std::string pattern;
  Mode mode;
};

struct Switches {
  Mode mode = kMigrated;
  std::vector<Rule> rules;
  bool synchronous = false;
};

bool parse_mode(const std::string &text, Mode *mode) {
  for (int i = 0; i <= kRecord; ++i)
    if (text == kModeNames[i]) return *mode = (Mode)i, true;
  return false;
}

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

// At commas outside template arguments.
std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (char c : text) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth <= 0) items.emplace_back();
    else items.back() += c;
  }
  return items;
}

Switches read_switches() {
  Switches switches;
  const char *mode = getenv("TILE_MIGRATE_MODE");
  if (mode && *mode && (!parse_mode(mode, &switches.mode) || (switches.mode >= kTile && switches.mode <= kSimt))) {
    fprintf(stderr, "tile-migrate: TILE_MIGRATE_MODE=%s: not kept, migrated, check or record; migrated is used\n", mode);
    switches.mode = kMigrated;
  }
  const char *kernels = getenv("TILE_MIGRATE_KERNELS");
  for (const std::string &item : split(kernels ? kernels : "")) {
    std::string text = without_spaces(item);
    if (text.empty()) continue;
    size_t equals = text.rfind('=');
    Rule rule;
    if (equals == std::string::npos || equals == 0 || !parse_mode(text.substr(equals + 1), &rule.mode)) {
      fprintf(stderr, "tile-migrate: TILE_MIGRATE_KERNELS: '%s' is not KERNEL=kept, tile, loop, simt, migrated, check or record\n",
              text.c_str());
      continue;
    }
    rule.pattern = text.substr(0, equals);
    switches.rules.push_back(rule);
  }
  switches.synchronous = switches.mode == kCheck || switches.mode == kRecord;
  for (const Rule &rule : switches.rules) switches.synchronous |= rule.mode == kCheck || rule.mode == kRecord;
  return switches;
}

const Switches &switches() {
  static const Switches *only = new Switches(read_switches());
  return *only;
}

size_t edit_distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// At the first launch, when what is linked in has registered itself.
void report_unknown_names() {
  std::vector<Kernel *> kernels = all_kernels();
  for (const Rule &rule : switches().rules) {
    if (std::any_of(kernels.begin(), kernels.end(), [&](Kernel *k) { return k->matches(rule.pattern); })) continue;
    std::vector<std::pair<size_t, std::string>> near;
    for (Kernel *kernel : kernels) near.emplace_back(edit_distance(rule.pattern, kernel->plain), kernel->plain);
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    std::string hint;
    for (size_t i = 0; i < near.size() && i < 3; ++i)
      if (near[i].first <= std::max<size_t>(2, rule.pattern.size() / 2)) hint += (hint.empty() ? "; near: " : ", ") + near[i].second;
    fprintf(stderr, "tile-migrate: TILE_MIGRATE_KERNELS: no kernel is named '%s'%s\n", rule.pattern.c_str(), hint.c_str());
  }
}

Mode mode_of(const Kernel &kernel) {
  Mode mode = switches().mode;
  for (const Rule &rule : switches().rules)
    if (kernel.matches(rule.pattern)) mode = rule.mode;
  return mode;
}

}  // namespace

bool Kernel::matches(const std::string &pattern) const {
  for (const std::string *own : {&plain, &qualified, &signature, &name})
    if (pattern == *own) return true;
  size_t colon = signature.rfind("::", signature.find('<'));
  if (pattern == (colon == std::string::npos ? signature : signature.substr(colon + 2))) return true;
  if (pattern.find_first_of("*?") == std::string::npos) return false;
  for (const std::string *own : {&plain, &qualified, &signature, &name})
    if (fnmatch(pattern.c_str(), own->c_str(), 0) == 0) return true;
  return false;
}

bool launches_are_synchronous() { return switches().synchronous; }

// Choices that a later registration replaces stay: other threads may be reading them.
static void keep(const Choice *choice) {
  static std::mutex &mutex = *new std::mutex;
  static auto &all = *new std::vector<const Choice *>;
  std::lock_guard<std::mutex> guard(mutex);
  all.push_back(choice);
}

const Choice &choice_of(Kernel &kernel) {
  static std::once_flag reported;
  std::call_once(reported, report_unknown_names);
  if (const Choice *known = kernel.choice.load(std::memory_order_acquire)) return *known;
  Mode mode = mode_of(kernel);
  auto *choice = new Choice{};
  choice->check = mode == kCheck;
  choice->record = mode == kRecord;
  static const int kOrder[kKinds] = {TM_KIND_TILE, TM_KIND_LOOP, TM_KIND_SIMT, TM_KIND_KEPT};
  bool wanted_found = mode > kSimt;
  int from = mode == kKept || mode == kRecord ? 3 : mode <= kSimt ? mode - 1 : 0;
  for (int i = from; i < kKinds; ++i) {
    if (!kernel.records[kOrder[i]].load(std::memory_order_acquire)) continue;
    wanted_found |= kOrder[i] == mode;
    choice->order[choice->count++] = kOrder[i];
  }
  if (mode == kRecord && !choice->count)  // nothing kept: what there is
    for (int kind : {TM_KIND_TILE, TM_KIND_LOOP, TM_KIND_SIMT})
      if (kernel.records[kind].load(std::memory_order_acquire)) choice->order[choice->count++] = kind;
  if (!wanted_found)
    fprintf(stderr, "tile-migrate: %s has no implementation of kind %s%s%s\n", kernel.signature.c_str(), kModeNames[mode],
            choice->count ? ": runs as " : "", choice->count ? kKindNames[choice->order[0]] : "");
  const Choice *none = nullptr;
  if (kernel.choice.compare_exchange_strong(none, choice)) {
    keep(choice);
    return *choice;
  }
  delete choice;
  return *none;
}

}  // namespace tile_migrate
