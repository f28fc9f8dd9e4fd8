// reprise: checkpoint problems as text
#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"

#include <algorithm>
#include <charconv>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

static constexpr std::pair<Kind, std::string_view> kinds[] = {{Kind::Elementwise, "elementwise"},
                                                              {Kind::View, "view"},
                                                              {Kind::Reduction, "reduction"},
                                                              {Kind::Contraction, "contraction"},
                                                              {Kind::Other, "other"}};

template <typename Enum, size_t count>
static std::string_view nameOf(const std::pair<Enum, std::string_view> (&table)[count],
                               Enum wanted) {
  for (auto [known, name] : table)
    if (known == wanted)
      return name;
  return "";
}

template <typename Enum, size_t count>
static std::optional<Enum> parse(const std::pair<Enum, std::string_view> (&table)[count],
                                 std::string_view wanted) {
  for (auto [known, name] : table)
    if (name == wanted)
      return known;
  return std::nullopt;
}

std::string_view reprise::checkpoint::getKindName(Kind kind) { return nameOf(kinds, kind); }
std::optional<Kind> reprise::checkpoint::parseKind(std::string_view name) {
  return parse(kinds, name);
}

namespace {

class Writer {
public:
  explicit Writer(const ProblemFile &file)
      : file(file), problem(file.problem), footprint(file.footprint) {}

  std::string run();

private:
  static std::string show(int64_t number) { return std::to_string(number); }
  static std::string show(int number) { return std::to_string(number); }
  /// The shortest text that reads back as the same number.
  static std::string show(double number) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
  }
  static std::string quote(std::string_view name) { return "\"" + std::string(name) + "\""; }
  void writeMember(std::string_view key, const std::string &value) {
    text += (text.back() == '{' ? "\"" : ", \"") + std::string(key) + "\": " + value;
  }
  void writeName(const std::vector<std::string> &names, size_t index) {
    if (index < names.size() && !names[index].empty())
      writeMember("name", quote(names[index]));
  }
  void writeUnits();
  static std::string show(const std::vector<int> &launches);
  static std::vector<int> sort(std::vector<int> launches);
  void writeNeighbours();
  void writeWaits();
  void writeOperation(size_t index);
  void writeOperands(const Operation &op);
  void writeValue(int id);

  const ProblemFile &file;
  const Problem &problem;
  const Footprint &footprint;
  std::string text;
};

} // namespace

std::string Writer::show(const std::vector<int> &launches) {
  std::string list;
  for (int launch : launches)
    list += (list.empty() ? "" : ", ") + show(launch);
  return "[" + list + "]";
}

/// Each once.
std::vector<int> Writer::sort(std::vector<int> launches) {
  std::sort(launches.begin(), launches.end());
  launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  return launches;
}

void Writer::writeWaits() {
  std::vector<std::vector<int>> waits(footprint.numLaunches);
  for (int launch = 0; launch < footprint.numLaunches; ++launch)
    for (int next : file.links->next[launch])
      waits[next].push_back(launch);
  text += "\"waits\": [";
  for (int launch = 0; launch < footprint.numLaunches; ++launch)
    text += (launch > 0 ? ", " : "") + show(waits[launch]);
  text += "],\n";
}

void Writer::writeUnits() {
  text += "\"units\": [";
  for (size_t i = 1; i < problem.containers.size(); ++i) {
    int parent = problem.containers[i].parent;
    text += (i > 1 ? ", " : "") + (parent > 0 ? show(parent - 1) : "null");
  }
  text += "],\n";
}

void Writer::writeNeighbours() {
  text += "\"other_buffers\": [";
  std::string_view separator = "";
  for (size_t i = 0; i < footprint.neighbours.size(); ++i) {
    const Neighbour &other = footprint.neighbours[i];
    text += std::string(separator) + "{";
    writeMember("first", show(other.first));
    writeMember("last", show(other.last));
    writeMember("bytes", show(other.bytes));
    if (file.links && sort(file.links->neighbourReaders[i]).size() > 1)
      writeMember("read_by", show(sort(file.links->neighbourReaders[i])));
    text += "}";
    separator = ", ";
  }
  text += "],\n";
}

void Writer::writeValue(int id) {
  const Value &value = problem.values[id];
  text += "{";
  writeName(file.valueNames, id);
  writeMember("bytes", show(value.bytes));
  if (value.label != Label::None)
    writeMember("label", quote(getText(value.label)));
  int last = footprint.lastOutside[id];
  if (value.outlives)
    writeMember("outlives", "true");
  if (file.links && sort(file.links->outside[id]).size() > 1)
    writeMember("read_by", show(sort(file.links->outside[id])));
  else if (last >= 0 ? !value.outlives || last < footprint.numLaunches : value.outlives)
    writeMember("read_until", last >= 0 ? show(last) : "null");
  if (!footprint.isStored[id])
    writeMember("stored", "false");
  text += "}";
}

void Writer::writeOperands(const Operation &op) {
  std::string list;
  for (int operand : op.operands)
    list += (list.empty() ? "" : ", ") + (operand == kAvailable ? "null" : show(operand));
  if (!list.empty())
    writeMember("operands", "[" + list + "]");
}

void Writer::writeOperation(size_t index) {
  const Operation &op = problem.operations[index];
  text += "{";
  writeName(file.operationNames, index);
  writeMember("kind", quote(getKindName(op.kind)));
  if (!op.primal)
    writeMember("backward", "true");
  if (op.order != (op.primal ? 0 : 1))
    writeMember("order", show(op.order));
  writeMember("unit", show(op.container - 1));
  int launch = footprint.launches[index];
  writeMember("launch", launch == kNoLaunch ? "null" : show(launch));
  if (launch != kNoLaunch)
    writeMember("cost", show(footprint.seconds[index]));
  if (int64_t bytes = footprint.scratchOf(index); bytes > 0)
    writeMember("scratch", show(bytes));
  if (usesMemory(op) && footprint.takesPlaces(problem, index))
    writeMember("in_place", "true");
  if (footprint.storesUnread(index))
    writeMember("makes_all", "true");
  writeMember("flops", show(op.flops));
  writeOperands(op);
  writeMember("results", "[");
  for (int id = op.firstResult; id < op.firstResult + op.numResults; ++id) {
    text += id > op.firstResult ? ", " : "";
    writeValue(id);
  }
  text += "]}";
}

std::string Writer::run() {
  text = "{";
  writeMember("version", "1");
  text += ",\n\"launches\": " + show(footprint.numLaunches) +
          ",\n\"total_cost\": " + show(file.totalCost) + ",\n";
  if (footprint.launchSeconds > 0)
    text += "\"launch_cost\": " + show(footprint.launchSeconds) + ",\n";
  if (footprint.byteSeconds > 0)
    text += "\"byte_cost\": " + show(footprint.byteSeconds) + ",\n";
  writeUnits();
  writeNeighbours();
  if (file.links)
    writeWaits();
  text += "\"operations\": [";
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    text += i > 0 ? ",\n  " : "\n  ";
    writeOperation(i);
  }
  text += "\n]}\n";
  return std::move(text);
}

std::string reprise::checkpoint::writeProblemFile(const ProblemFile &file) {
  return Writer(file).run();
}
