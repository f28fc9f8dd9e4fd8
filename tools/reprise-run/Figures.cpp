// reprise: results of a run, as text and as JSON
#include "Figures.h"
#include "reprise/Runtime/Json.h"
#include "reprise/Support/Readable.h"

#include <cinttypes>
#include <cstdio>

using namespace reprise;
using namespace reprise::runtime;

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

static Sizes sizesOf(const Executable &executable) {
  const Bundle &bundle = executable.bundle();
  return {bundle.program("step")->executions(), bundle.arenaBytes(),
          bundle.workspaceBytes(executable.device().workers()), bundle.persistentBytes()};
}

Error Figures::measure(const ProgramGroup &group) {
  const Executable &first = group.executable(0);
  device = first.device().name();
  machine = first.device().description() + ", code for " + first.target();
  for (uint32_t i = 0; i < group.bundle().countDevices(); ++i)
    names.push_back(group.bundle().deviceName(i));
  for (size_t i = 0; i < group.size(); ++i)
    programs.push_back(sizesOf(group.executable(i)));
  if (!group.ranks())
    return Error::success();
  const Sizes &own = programs.front();
  std::string text;
  for (uint64_t number :
       {own.commands, own.arena, own.workspace, own.persistent, peakBytes, snapshotBytes})
    text += std::to_string(number) + " ";
  auto all = group.ranks()->exchange(text);
  if (!all)
    return all.error();
  programs.clear();
  peakBytes = snapshotBytes = 0;
  for (const std::string &each : *all) {
    Sizes sizes;
    uint64_t peak = 0, snapshot = 0;
    if (std::sscanf(each.c_str(),
                    "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                    &sizes.commands, &sizes.arena, &sizes.workspace, &sizes.persistent, &peak,
                    &snapshot) != 6)
      return Error::make("a process did not report its sizes");
    programs.push_back(sizes);
    peakBytes += peak;
    snapshotBytes += snapshot;
  }
  return Error::success();
}

Sizes Figures::sum() const {
  Sizes all;
  for (const Sizes &own : programs)
    all = {all.commands + own.commands, all.arena + own.arena, all.workspace + own.workspace,
           all.persistent + own.persistent};
  return all;
}

std::string Sizes::json() const {
  return "\"commands\": " + std::to_string(commands) +
         ", \"arena_bytes\": " + std::to_string(arena) +
         ", \"workspace_bytes\": " + std::to_string(workspace) +
         ", \"step_bytes\": " + std::to_string(arena + workspace) +
         ", \"persistent_bytes\": " + std::to_string(persistent);
}

/// Returns the figures per program; empty for one program, whose figures are those of the run.
std::string Figures::programsJson() const {
  std::string list;
  for (size_t i = 0; i < programs.size(); ++i)
    list += (i ? ", {" : "{") + ("\"program\": " + jsonString(names[i])) +
            ", \"device\": " + std::to_string(i) + ", " + programs[i].json() + "}";
  return programs.size() > 1 ? ", \"programs\": [" + list + "]" : "";
}

std::string Figures::json() const {
  std::string losses, times;
  for (size_t i = 0; i < loss.size(); ++i) {
    losses += (i ? ", " : "") + (loss[i] ? jsonNumber(*loss[i]) : "null");
    times += (i ? ", " : "") + jsonNumber(seconds[i]);
  }
  bool hasLoss = loss.front().has_value();
  auto number = [](uint64_t value) { return std::to_string(value); };
  return "{\"version\": 1, \"loss\": " + (hasLoss ? "[" + losses + "]" : "null") +
         ", \"hash\": " + jsonString(hash) + ", \"next_offset\": " + std::to_string(next.offset) +
         ", " + sum().json() + ", \"peak_rss_bytes\": " + number(peakBytes) +
         ", \"snapshot_bytes\": " + number(snapshotBytes) + ", \"step_seconds\": [" + times +
         "], \"threads\": " + number(threads) + ", \"device\": " + jsonString(device) +
         programsJson() + "}\n";
}

std::string Figures::text() const {
  Sizes sizes = sum();
  double total = 0;
  for (double each : seconds)
    total += each;
  auto row = [](const char *name, const std::string &value) {
    std::string line = name;
    line.resize(std::max<size_t>(line.size(), 17), ' ');
    return line + " " + value + "\n";
  };
  std::string text;
  if (loss.back())
    text += row("loss", shortNumber(*loss.back()));
  text += row("hash", hash);
  text += row("next offset", std::to_string(next.offset));
  text += row("next step", std::to_string(next.step));
  text += row("seconds per step", shortNumber(total / double(seconds.size())));
  text += row("commands per step", groupDigits(int64_t(sizes.commands)));
  text += row("arena", showBytesExactly(int64_t(sizes.arena)));
  text += row("workspace", showBytesExactly(int64_t(sizes.workspace)));
  text += row("both together", showBytesExactly(int64_t(sizes.arena + sizes.workspace)));
  text += row("persistent", showBytesExactly(int64_t(sizes.persistent)));
  if (snapshotBytes != 0)
    text += row("snapshot", showBytesExactly(int64_t(snapshotBytes)));
  text += row("threads", std::to_string(threads));
  text += row("device", machine);
  for (size_t i = 0; i < programs.size() && programs.size() > 1; ++i) {
    const Sizes &own = programs[i];
    text += row("program", "'" + names[i] + "': " + groupDigits(int64_t(own.commands)) +
                               " commands, arena " + showBytes(int64_t(own.arena)) +
                               ", workspace " + showBytes(int64_t(own.workspace)) +
                               ", persistent " + showBytes(int64_t(own.persistent)));
  }
  return text;
}
