// reprise: times of each worker in each command, as a Chrome trace and as a profile by kernel
#include "reprise/Runtime/Trace.h"
#include "reprise/Runtime/Json.h"
#include "reprise/Runtime/LiveBytes.h"
#include "reprise/Support/StableSort.h"

#include <algorithm>
#include <cinttypes>
#include <ctime>
#include <sstream>

using namespace reprise::runtime;

uint64_t reprise::runtime::nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

/// Prints nanoseconds as microseconds with three decimals.
static std::string microseconds(uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03llu",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned long long>(nanoseconds % 1000));
  return text;
}

/// The command of each execution of a step.
static std::vector<uint32_t> executedCommands(const Bundle &bundle) {
  std::vector<uint32_t> commands;
  forEachExecution(*bundle.program("step"), [&](uint32_t number, const std::vector<int64_t> &) {
    commands.push_back(number);
  });
  return commands;
}

static const std::string &targetOf(const Bundle &bundle) { return bundle.images.front().target; }

Trace::Trace(const Bundle &bundle, unsigned workers, uint32_t process, uint64_t start)
    : bundle(bundle), workers(workers), process(process), start(start),
      executed(executedCommands(bundle)), liveBytes(countLiveBytes(bundle)) {}

/// The start of an event.
std::string Trace::head(const char *kind) const {
  return std::string(", \"ph\": \"") + kind + "\", \"pid\": " + std::to_string(process);
}

std::string Trace::names() const {
  std::string text = ",\n{\"name\": \"process_name\"" + head("M") + ", \"args\": {\"name\": " +
                     jsonString(bundle.entry + " on " + targetOf(bundle)) + "}}";
  for (unsigned worker = 0; worker < workers; ++worker)
    text += ",\n{\"name\": \"thread_name\"" + head("M") + ", \"tid\": " + std::to_string(worker) +
            ", \"args\": {\"name\": \"worker " + std::to_string(worker) + "\"}}";
  return text;
}

std::string Trace::step(int64_t step, const Recorder &recorder) const {
  const std::vector<Command> &commands = bundle.program("step")->commands;
  std::string text;
  for (uint64_t i = 0; i < recorder.numCommands(); ++i) {
    uint64_t begin = UINT64_MAX;
    for (unsigned worker = 0; worker < recorder.numWorkers(); ++worker) {
      const Span &span = recorder.at(i, worker);
      if (span.end == 0)
        continue;
      begin = std::min(begin, span.begin);
      const Command &command = commands[executed[i]];
      bool isKernel = command.kind == CommandKind::Kernel;
      text +=
          ",\n{\"name\": " +
          jsonString(isKernel ? bundle.kernels[command.kernel].name : commandName(command.kind)) +
          ", \"cat\": \"command\"" + head("X") + ", \"tid\": " + std::to_string(worker) +
          ", \"ts\": " + microseconds(span.begin - start) +
          ", \"dur\": " + microseconds(span.end - span.begin) +
          ", \"args\": {\"step\": " + std::to_string(step) + ", \"command\": " + std::to_string(i) +
          ", \"label\": " + jsonString(command.label) + "}}";
    }
    if (begin != UINT64_MAX)
      text += ",\n{\"name\": \"live bytes\"" + head("C") +
              ", \"ts\": " + microseconds(begin - start) +
              ", \"args\": {\"arena\": " + std::to_string(liveBytes[i]) + "}}";
  }
  return text;
}

TraceFile::TraceFile(const std::string &path) : file(path) {
  file.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [");
}

Error TraceFile::add(const std::string &events) {
  // Each event has a comma before it.
  bool good = file.write(isEmpty && !events.empty() ? events.substr(1) : events);
  isEmpty &= events.empty();
  return good ? Error::success() : Error::make(file.error());
}

Error TraceFile::commit() {
  file.write("\n]}\n");
  return file.commit() ? Error::success() : Error::make(file.error());
}

Profile::Profile(const Bundle &bundle) : bundle(bundle), executed(executedCommands(bundle)) {}

Profile::Sum *Profile::sumOf(const Command &command) {
  if (command.kind == CommandKind::Call)
    return &calls[callKey(command)];
  return command.kind == CommandKind::Kernel ? &kernels[command.kernel] : nullptr;
}

void Profile::add(const Recorder &recorder, double stepSeconds) {
  const std::vector<Command> &commands = bundle.program("step")->commands;
  for (uint64_t i = 0; i < recorder.numCommands(); ++i) {
    const Command &command = commands[executed[i]];
    Sum *found = sumOf(command);
    if (!found)
      continue;
    uint64_t begin = UINT64_MAX, end = 0;
    for (unsigned worker = 0; worker < recorder.numWorkers(); ++worker) {
      const Span &span = recorder.at(i, worker);
      if (span.end == 0)
        continue;
      begin = std::min(begin, span.begin);
      end = std::max(end, span.end);
    }
    Sum &sum = *found;
    sum.nanoseconds += end ? end - begin : 0;
    sum.calls += 1;
    sum.flops += command.flops;
    sum.bytes += command.bytes;
  }
  steps += 1;
  seconds += stepSeconds;
}

std::string Profile::sums() const {
  char text[160];
  std::snprintf(text, sizeof text, "%" PRIu64 " %a\n", steps, seconds);
  std::string lines = text;
  auto addLine = [&](const Sum &sum, const std::string &name) {
    std::snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
                  sum.nanoseconds, sum.calls, sum.flops, sum.bytes);
    lines += text + name + "\n";
  };
  for (const auto &[kernel, sum] : kernels)
    addLine(sum, bundle.kernels[kernel].name);
  for (const auto &[key, sum] : calls)
    addLine(sum, key);
  return lines;
}

Error Profile::addSums(const std::string &text) {
  std::map<std::string, const Command *> commands;
  for (const Program &program : bundle.programs)
    for (const Command &command : program.commands)
      if (command.kind == CommandKind::Kernel)
        commands[bundle.kernels[command.kernel].name] = &command;
      else if (command.kind == CommandKind::Call)
        commands[callKey(command)] = &command;
  std::istringstream lines(text);
  std::string line;
  double own = 0;
  if (!std::getline(lines, line) || std::sscanf(line.c_str(), "%" SCNu64 " %la", &steps, &own) != 2)
    return Error::make("a program has no profile");
  seconds = std::max(seconds, own);
  while (std::getline(lines, line)) {
    Sum sum;
    int name = 0;
    if (std::sscanf(line.c_str(), "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n",
                    &sum.nanoseconds, &sum.calls, &sum.flops, &sum.bytes, &name) != 4 ||
        !commands.count(line.substr(size_t(name))))
      return Error::make("a program's profile has an unknown kernel");
    Sum &all = *sumOf(*commands[line.substr(size_t(name))]);
    all = {all.nanoseconds + sum.nanoseconds, all.calls + sum.calls, all.flops + sum.flops,
           all.bytes + sum.bytes};
  }
  return Error::success();
}

std::string Profile::boundOf(const Sum &sum, const MachineRates &rates) {
  bool arithmetic = sum.flops / rates.peakFlops > sum.bytes / rates.copyBytes;
  double least = 1e9 * rates.boundSeconds(sum.flops, sum.bytes);
  return std::string(", \"bound\": ") + (arithmetic ? "\"arithmetic\"" : "\"memory\"") +
         ", \"of_bound\": " + jsonNumber(sum.nanoseconds ? least / sum.nanoseconds : 0);
}

/// The ops of a launch, as JSON; a signature is a text, since JSON's numbers have 53 bits.
static std::string listOps(const Kernel &kernel) {
  std::string text;
  for (const SourceOp &op : kernel.ops) {
    char signature[20];
    std::snprintf(signature, sizeof signature, "%016llx",
                  static_cast<unsigned long long>(op.signature));
    text += (text.empty() ? "{\"op\": " : ", {\"op\": ") + jsonString(op.name) +
            ", \"kind\": " + jsonString(op.kind) + ", \"dtype\": " + jsonString(op.dtype) +
            ", \"flops\": " + std::to_string(op.flops) + ", \"signature\": \"" + signature + "\"}";
  }
  return "[" + text + "]";
}

/// Returns the rows by falling seconds; for equal seconds, kernels in their order, then calls.
std::vector<Profile::Row> Profile::rows() const {
  std::vector<Row> rows;
  for (const auto &[number, sum] : kernels) {
    const Kernel &kernel = bundle.kernels[number];
    std::string launch = ", \"launch\": " + jsonString(kernel.launch);
    rows.push_back({jsonString(kernel.name), launch + ", \"ops\": " + listOps(kernel), sum});
  }
  for (const auto &[key, sum] : calls) {
    std::string function = jsonString(key.substr(0, key.find(' ')));
    rows.push_back(
        {jsonString(key),
         ", \"function\": " + function + ", \"launch\": " + jsonString(key) + ", \"ops\": []",
         sum});
  }
  reprise::sortStably(
      rows, [](const Row &a, const Row &b) { return a.sum.nanoseconds > b.sum.nanoseconds; });
  return rows;
}

std::string Profile::json(unsigned workers, const MachineRates &rates) const {
  const std::vector<Row> all = rows();
  uint64_t total = 0;
  for (const Row &row : all)
    total += row.sum.nanoseconds;
  double count = std::max<uint64_t>(steps, 1);
  std::string text = "{\"version\": 1, \"steps\": " + std::to_string(steps) +
                     ", \"threads\": " + std::to_string(workers) +
                     ", \"programs\": " + std::to_string(bundle.countDevices()) +
                     ", \"target\": " + jsonString(targetOf(bundle)) +
                     ", \"entry\": " + jsonString(bundle.entry) +
                     ", \"step_seconds\": " + jsonNumber(seconds / count) +
                     ", \"peak_flops\": " + jsonNumber(rates.peakFlops) +
                     ", \"copy_bytes\": " + jsonNumber(rates.copyBytes) + ", \"kernels\": [";
  const char *separator = "\n";
  for (const Row &row : all) {
    const Sum &sum = row.sum;
    text += separator;
    text += "  {\"kernel\": " + row.name +
            ", \"seconds\": " + jsonNumber(sum.nanoseconds * 1e-9 / count) +
            ", \"share\": " + jsonNumber(total ? double(sum.nanoseconds) / total : 0) +
            ", \"calls\": " + jsonNumber(sum.calls / count) +
            ", \"flops\": " + jsonNumber(sum.flops / count) +
            ", \"bytes\": " + jsonNumber(sum.bytes / count) + boundOf(sum, rates) + row.origin +
            "}";
    separator = ",\n";
  }
  return text + "\n]}\n";
}
