// reprise: checkpoint problems from text
#include "ProblemDraft.h"
#include "reprise/Json/JsonScanner.h"

#include <algorithm>

using namespace reprise;
using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

namespace {

/// More arithmetic than any kernel can take for nearly free.
constexpr int64_t kMostFlops = int64_t(1) << 55;

class Reader {
public:
  Reader(std::string_view text, ProblemFile &file)
      : scanner(text), file(file), problem(file.problem), footprint(file.footprint) {}

  std::string run();

private:
  /// The first thing that is wrong.
  void refuse(const std::string &what, bool hasPlace = true) {
    if (wrong.empty())
      wrong = what + (hasPlace ? scanner.place() : "");
  }
  /// The operation at hand, or none.
  std::string where() const {
    return isInOperation ? describeOperation(file, problem.operations.size() - 1) : "";
  }
  void expect(std::string_view key, const std::string &what) {
    refuse(where() + "expected " + what + " for '" + std::string(key) + "'");
  }
  int64_t readCount(std::string_view key, int64_t most = INT64_MAX);
  double readCost(std::string_view key);
  bool readFlag(std::string_view key);
  std::string readName();

  void scanFile();
  void scanUnits();
  void scanOtherBuffer();
  void scanOperation();
  void scanMember(std::string_view key, Operation &op);
  void scanOperands(Operation &op);
  void scanResult(Operation &op);
  void scanValue(std::string_view key, Value &value);
  std::vector<int64_t> readLaunches(std::string_view key);
  void scanWaits();
  void scanReaders(std::string_view key);

  JsonScanner scanner;
  ProblemFile &file;
  Problem &problem;
  Footprint &footprint;
  std::string wrong;
  bool isInOperation = false;
  std::optional<int64_t> version;
  ProblemDraft draft;
  // Of the operation at hand.
  bool isBackward = false, hasCost = false;
  std::optional<int64_t> order;
};

} // namespace

//===-- The text ------------------------------------------------------------------------------===//

int64_t Reader::readCount(std::string_view key, int64_t most) {
  std::optional<int64_t> number = scanner.readInteger();
  if (number && *number >= 0 && *number <= most)
    return *number;
  expect(key, most < INT64_MAX ? "an integer from 0 to " + std::to_string(most)
                               : "an integer of at least 0");
  return 0;
}

double Reader::readCost(std::string_view key) {
  std::optional<double> number = scanner.readNumber();
  if (number && *number >= 0 && *number <= kMostCost)
    return *number;
  expect(key, "a number from 0 to 1e30");
  return 0;
}

bool Reader::readFlag(std::string_view key) {
  std::optional<bool> flag = scanner.readBoolean();
  if (!flag)
    expect(key, "true or false");
  return flag.value_or(false);
}

std::string Reader::readName() {
  std::optional<std::string_view> name = scanner.readString();
  if (!name)
    expect("name", "a string");
  return std::string(name.value_or(""));
}

void Reader::scanFile() {
  bool hasOperations = false;
  bool isObject = scanner.readObject([&](std::string_view key) {
    if (key == "version")
      version = scanner.readInteger();
    else if (key == "launches")
      draft.launches = readCount(key, INT32_MAX);
    else if (key == "total_cost")
      draft.totalCost = readCost(key);
    else if (key == "launch_cost")
      footprint.launchSeconds = readCost(key);
    else if (key == "byte_cost")
      footprint.byteSeconds = readCost(key);
    else if (key == "units")
      scanUnits();
    else if (key == "other_buffers") {
      if (!scanner.readArray([&] { scanOtherBuffer(); }))
        expect(key, "an array");
    } else if (key == "waits")
      scanWaits();
    else if (key == "operations")
      hasOperations = scanner.readArray([&] { scanOperation(); });
    else if (key == "name" || key == "$schema")
      scanner.skip();
    else
      refuse("unknown member '" + std::string(key) + "'"), scanner.skip();
  });
  scanner.finish();
  if (!scanner.error().empty())
    wrong = "syntax error: " + scanner.error();
  else if (!isObject)
    refuse("expected an object with 'version' and 'operations'", false);
  else if (version != 1)
    refuse("expected version 1", false);
  else if (!hasOperations || problem.operations.empty())
    refuse("expected 'operations', an array with one operation or more", false);
}

void Reader::scanUnits() {
  std::vector<int64_t> parents;
  bool isArray = scanner.readArray([&] {
    int64_t parent = scanner.readNull() ? -1 : readCount("units");
    if (parent >= static_cast<int64_t>(parents.size()))
      refuse("unit " + std::to_string(parents.size()) + " comes before its parent, unit " +
             std::to_string(parent));
    parents.push_back(parent);
  });
  if (!isArray)
    expect("units", "an array");
  draft.units = std::move(parents);
}

std::vector<int64_t> Reader::readLaunches(std::string_view key) {
  std::vector<int64_t> launches;
  if (!scanner.readArray([&] { launches.push_back(readCount(key, INT32_MAX)); }))
    expect(key, "an array");
  return launches;
}

void Reader::scanWaits() {
  draft.waits.emplace();
  if (!scanner.readArray([&] { draft.waits->push_back(readLaunches("waits")); }))
    expect("waits", "an array");
}

/// All of them, or the last one.
void Reader::scanReaders(std::string_view key) {
  auto &readers = draft.readers.back();
  if (key == "read_by")
    readers = readLaunches(key);
  else if (scanner.readNull())
    readers.emplace();
  else
    readers = {readCount(key, INT32_MAX)};
}

void Reader::scanOtherBuffer() {
  std::string what = "other buffer " + std::to_string(footprint.neighbours.size()) + ": ";
  std::optional<int64_t> first, last, bytes;
  std::optional<std::vector<int64_t>> readers;
  bool isObject = scanner.readObject([&](std::string_view key) {
    if (key == "first")
      first = readCount(key, INT32_MAX);
    else if (key == "last")
      last = readCount(key, INT32_MAX);
    else if (key == "bytes")
      bytes = readCount(key);
    else if (key == "read_by")
      readers = readLaunches(key);
    else
      refuse(what + "unknown member '" + std::string(key) + "'"), scanner.skip();
  });
  if (!isObject || !first || !last || !bytes || *first > *last)
    refuse(what + "expected 'first', 'last' and 'bytes', and no last launch before the first");
  if (readers && (readers->empty() || *std::max_element(readers->begin(), readers->end()) != last))
    refuse(what + "expected 'last' as the last launch of 'read_by'");
  draft.bufferReaders.push_back(std::move(readers));
  footprint.neighbours.push_back(
      {static_cast<int>(first.value_or(0)), static_cast<int>(last.value_or(0)), bytes.value_or(0)});
}

void Reader::scanOperation() {
  isInOperation = true;
  problem.operations.emplace_back();
  file.operationNames.emplace_back();
  draft.unitOf.emplace_back();
  draft.launchOf.emplace_back();
  footprint.seconds.push_back(0);
  footprint.scratch.push_back(0);
  footprint.inPlace.push_back(false);
  footprint.makesAll.push_back(false);
  isBackward = hasCost = false;
  order.reset();
  Operation op;
  op.flops = kMostFlops;
  op.firstResult = static_cast<int>(problem.values.size());
  if (!scanner.readObject([&](std::string_view key) { scanMember(key, op); }))
    refuse(where() + "expected an object");
  op.primal = !isBackward;
  op.order = order.value_or(isBackward ? 1 : 0);
  if (isBackward && op.order == 0)
    refuse(where() + "is of the backward pass, so that its 'order' is not 0");
  if (op.kind == Kind::View && !draft.launchOf.back().isGiven)
    draft.launchOf.back() = {true, std::nullopt};
  bool isFree = draft.launchOf.back().isNone();
  if (!hasCost && !isFree)
    refuse(where() + "expected 'cost', a number from 0 to 1e30");
  if (isFree && footprint.seconds.back() > 0)
    refuse(where() + "has a cost, but no launch");
  if (isFree && footprint.scratch.back() > 0)
    refuse(where() + "has scratch, but no launch");
  bool readsMore = std::any_of(op.operands.begin() + !op.operands.empty(), op.operands.end(),
                               [](int operand) { return operand != kAvailable; });
  if (isFree && readsMore)
    refuse(where() + "without a launch it can read one value only, its first operand,");
  problem.operations.back() = std::move(op);
  isInOperation = false;
}

void Reader::scanMember(std::string_view key, Operation &op) {
  if (key == "name")
    file.operationNames.back() = readName();
  else if (key == "cost") {
    footprint.seconds.back() = readCost(key);
    hasCost = true;
  } else if (key == "scratch") {
    footprint.scratch.back() = readCount(key);
  } else if (key == "in_place") {
    footprint.inPlace.back() = readFlag(key);
  } else if (key == "makes_all") {
    footprint.makesAll.back() = readFlag(key);
  } else if (key == "kind") {
    std::optional<Kind> kind = parseKind(scanner.readString().value_or(""));
    if (!kind)
      expect(key, "elementwise, view, reduction, contraction or other");
    op.kind = kind.value_or(Kind::Other);
  } else if (key == "launch")
    draft.launchOf.back() = {true, scanner.readNull() ? std::nullopt
                                                      : std::optional(readCount(key, INT32_MAX))};
  else if (key == "unit")
    draft.unitOf.back() = readCount(key, INT32_MAX);
  else if (key == "backward")
    isBackward = readFlag(key);
  else if (key == "order")
    order = readCount(key);
  else if (key == "flops")
    op.flops = std::min(readCount(key), kMostFlops);
  else if (key == "operands")
    scanOperands(op);
  else if (key == "results") {
    if (!scanner.readArray([&] { scanResult(op); }))
      expect(key, "an array");
  } else
    refuse(where() + "unknown member '" + std::string(key) + "'"), scanner.skip();
}

void Reader::scanOperands(Operation &op) {
  op.operands.clear();
  bool isArray = scanner.readArray([&] {
    if (scanner.readNull())
      return op.operands.push_back(kAvailable);
    int64_t value = readCount("operands", INT32_MAX);
    if (value >= op.firstResult)
      refuse(where() + "reads value " + std::to_string(value) +
             ", which no operation before it makes,");
    op.operands.push_back(static_cast<int>(value));
  });
  if (!isArray)
    expect("operands", "an array");
}

/// A number of bytes, or an object that says more.
void Reader::scanResult(Operation &op) {
  ++op.numResults;
  Value value;
  value.operation = static_cast<int>(problem.operations.size()) - 1;
  value.bytes = -1;
  value.root = static_cast<int>(problem.values.size());
  file.valueNames.emplace_back();
  footprint.isStored.push_back(true);
  draft.readers.emplace_back();
  if (scanner.peek() == '{')
    scanner.readObject([&](std::string_view key) { scanValue(key, value); });
  else
    value.bytes = scanner.readInteger().value_or(-1);
  if (value.bytes < 0)
    expect("results", "bytes, or objects with 'bytes', an integer of at least 0,");
  problem.values.push_back(value);
}

void Reader::scanValue(std::string_view key, Value &value) {
  if (key == "name")
    file.valueNames.back() = readName();
  else if (key == "bytes")
    value.bytes = readCount(key);
  else if (key == "label") {
    std::optional<Label> label = parseValueLabel(scanner.readString().value_or(""));
    if (!label || *label == Label::MustOffload || *label == Label::PreferOffload)
      expect(key, "must_save, prefer_save, prefer_recompute or must_recompute");
    value.label = label.value_or(Label::None);
  } else if (key == "outlives")
    value.outlives = readFlag(key);
  else if (key == "stored")
    footprint.isStored.back() = readFlag(key);
  else if ((key == "read_until" || key == "read_by") && draft.readers.back())
    refuse(where() + "'" + std::string(key) + "' beside another end of the same result"),
        scanner.skip();
  else if (key == "read_until" || key == "read_by")
    scanReaders(key);
  else
    refuse(where() + "unknown member '" + std::string(key) + "' of a result"), scanner.skip();
}

//===-- The faces -----------------------------------------------------------------------------===//

std::string Reader::run() {
  scanFile();
  if (wrong.empty())
    wrong = finishProblem(draft, file);
  return std::move(wrong);
}

bool reprise::checkpoint::isProblemFile(std::string_view text) {
  JsonScanner scanner(text);
  bool hasOperations = false, hasVersion = false, hasNodes = false;
  scanner.readObject([&](std::string_view key) {
    hasOperations |= key == "operations";
    hasVersion |= key == "version";
    hasNodes |= key == "nodes";
    scanner.skip();
  });
  return hasOperations || (hasVersion && !hasNodes);
}

std::string reprise::checkpoint::readProblemFile(std::string_view text, ProblemFile &file) {
  file = {};
  return Reader(text, file).run();
}
