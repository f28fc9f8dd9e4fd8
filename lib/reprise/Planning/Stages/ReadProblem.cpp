// reprise: pipeline problems from text
#include "reprise/Json/JsonScanner.h"
#include "reprise/Planning/Stages/ProblemFile.h"

#include <algorithm>

namespace reprise::stages {

namespace {

constexpr double kMostSeconds = 1e30;
constexpr int64_t kMostBytes = int64_t(1) << 48;
/// Ranges of units are a table.
constexpr size_t kMostUnits = 4096;
constexpr int64_t kMostMicrobatches = 1 << 20;

class Reader {
public:
  Reader(std::string_view text, ProblemFile &file) : scanner(text), file(file) {}

  std::string run() {
    bool isObject = scanner.readObject([&](std::string_view key) { scanMember(key); });
    scanner.finish();
    if (!scanner.error().empty())
      return "syntax error: " + scanner.error();
    if (!isObject)
      return "expected an object";
    if (version != 1)
      refuse("expected 'version' 1");
    if (file.units.empty() || file.units.size() > kMostUnits)
      refuse("expected 1 to " + std::to_string(kMostUnits) + " 'units'");
    finish();
    return wrong;
  }

private:
  void refuse(const std::string &what) {
    if (wrong.empty())
      wrong = what;
  }
  int64_t readInteger(std::string_view key, int64_t least, int64_t most) {
    std::optional<int64_t> number = scanner.readInteger();
    if (number && *number >= least && *number <= most)
      return *number;
    refuse("expected an integer from " + std::to_string(least) + " to " + std::to_string(most) +
           " for '" + std::string(key) + "'" + scanner.place());
    return least; // what follows may rely on the range
  }
  double readSeconds(std::string_view key) {
    std::optional<double> number = scanner.readNumber();
    if (!number || !(*number >= 0 && *number <= kMostSeconds))
      refuse("expected a number from 0 to 1e30 for '" + std::string(key) + "'" + scanner.place());
    return number.value_or(0);
  }
  void skipUnknown(std::string_view key) {
    if (key != "name" && key != "$schema")
      refuse("unknown member '" + std::string(key) + "'");
    scanner.skip();
  }
  void scanList(std::string_view key, const std::function<void()> &element) {
    if (!scanner.readArray(element))
      refuse("expected an array for '" + std::string(key) + "'" + scanner.place());
  }
  void scanObject(const std::function<void(std::string_view)> &member) {
    if (!scanner.readObject(member))
      refuse("expected an object" + scanner.place());
  }
  void scanMember(std::string_view key);
  void scanUnit();
  void scanValue();
  void scanDevice();
  void finish();

  JsonScanner scanner;
  ProblemFile &file;
  std::string wrong;
  std::optional<int64_t> version;
  std::optional<int64_t> ranks;
};

void Reader::scanMember(std::string_view key) {
  if (key == "version")
    version = scanner.readInteger();
  else if (key == "ranks")
    ranks = readInteger(key, 1, kMostUnits);
  else if (key == "microbatches")
    file.microbatches = readInteger(key, 1, kMostMicrobatches);
  else if (key == "chunks")
    file.chunks = static_cast<int>(readInteger(key, 2, kMostUnits));
  else if (key == "buffers")
    file.buffers = readInteger(key, 1, kMostMicrobatches);
  else if (key == "units")
    scanList(key, [&] { scanUnit(); });
  else if (key == "values")
    scanList(key, [&] { scanValue(); });
  else if (key == "devices")
    scanList(key, [&] { scanDevice(); });
  else
    skipUnknown(key);
}

void Reader::scanUnit() {
  pipeline::Stage unit;
  std::string name;
  scanObject([&](std::string_view key) {
    if (key == "forward")
      unit.forward = readSeconds(key);
    else if (key == "backward")
      unit.backward = readSeconds(key);
    else if (key == "weight")
      unit.weight = readSeconds(key);
    else if (key == "saved")
      unit.saved = readInteger(key, 0, kMostBytes);
    else if (key == "saved_for_weight")
      unit.savedForWeight = readInteger(key, 0, kMostBytes);
    else if (key == "made_for_weight")
      unit.madeForWeight = readInteger(key, 0, kMostBytes);
    else if (key == "working")
      unit.working = readInteger(key, 0, kMostBytes);
    else if (key == "resident")
      unit.resident = readInteger(key, 0, kMostBytes);
    else if (key == "name")
      name = scanner.readString().value_or("");
    else
      skipUnknown(key);
  });
  file.units.push_back(unit);
  file.names.push_back(name);
}

void Reader::scanValue() {
  Value value;
  scanObject([&](std::string_view key) {
    if (key == "unit")
      value.unit = static_cast<int>(readInteger(key, 0, kMostUnits));
    else if (key == "readers")
      scanList(key, [&] {
        value.readers.push_back(static_cast<int>(readInteger("readers", 0, kMostUnits)));
      });
    else if (key == "forward")
      value.forward = readSeconds(key);
    else if (key == "backward")
      value.backward = readSeconds(key);
    else
      skipUnknown(key);
  });
  file.values.push_back(std::move(value));
}

void Reader::scanDevice() {
  Device device;
  scanObject([&](std::string_view key) {
    if (key == "memory")
      device.memory = readInteger(key, 1, kMostBytes);
    else if (key == "speed")
      device.speed = readSeconds(key);
    else
      skipUnknown(key);
  });
  if (!(device.speed > 0))
    refuse("expected a number above 0 for 'speed'" + scanner.place());
  file.devices.push_back(device);
}

/// Sets defaults: equal devices, and units that read the result of the unit before.
void Reader::finish() {
  if (file.devices.empty())
    file.devices.resize(ranks.value_or(1));
  if (ranks.value_or(file.devices.size()) != static_cast<int64_t>(file.devices.size()))
    refuse("expected as many 'devices' as 'ranks'");
  int units = static_cast<int>(file.units.size());
  if (file.values.empty())
    for (int unit = 0; unit + 1 < units; ++unit)
      file.values.push_back({unit, {unit + 1}, 0, 0});
  for (size_t number = 0; number < file.values.size(); ++number) {
    Value &value = file.values[number];
    std::sort(value.readers.begin(), value.readers.end());
    bool isOrdered = value.readers.empty() ||
                     (value.readers.front() > value.unit && value.readers.back() < units);
    if (value.unit >= units || !isOrdered)
      refuse("value " + std::to_string(number) + ": expected a unit and later ones as 'readers'");
  }
}

} // namespace

std::string readProblemFile(std::string_view text, ProblemFile &file) {
  file = {};
  return Reader(text, file).run();
}

Problem ProblemFile::makeProblem(const pipeline::Schedule &schedule) const {
  Problem problem;
  problem.units = units;
  problem.values = values;
  problem.slots = pipeline::countSlots(schedule);
  for (int stage = 0; stage < schedule.shape.stages(); ++stage) {
    problem.devices.push_back(devices[schedule.shape.rankOf(stage)]);
    if (problem.devices.back().memory < INT64_MAX)
      problem.devices.back().memory /= schedule.shape.chunks;
  }
  return problem;
}

} // namespace reprise::stages
