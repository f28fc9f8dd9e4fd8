// reprise: compares a program in micro-batches with the whole batch, and in stages with one device
#include "Check.h"
#include "Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reprise/Compiler.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Planning/Pipeline/Schedule.h"
#include "reprise/Reference/Initial.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/Reference/Numbers.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace reprise::fuzz {

void drawBatch(ModuleOp module, uint64_t seed) {
  auto entry = module.lookupSymbol<func::FuncOp>("train");
  Random random(seed);
  SmallVector<std::pair<unsigned, int64_t>> dims;
  auto sizeOf = [&](std::pair<unsigned, int64_t> dim) {
    return cast<RankedTensorType>(entry.getArgumentTypes()[dim.first]).getDimSize(dim.second);
  };
  for (auto [number, type] : llvm::enumerate(entry.getArgumentTypes()))
    for (int64_t dim = 0; dim < cast<RankedTensorType>(type).getRank(); ++dim)
      if (sizeOf({number, dim}) > 1)
        dims.emplace_back(number, dim);
  if (dims.empty())
    return;
  int64_t batch = sizeOf(random.pick(dims));
  Builder builder(module.getContext());
  for (auto [number, dim] : dims) {
    if (sizeOf({number, dim}) != batch || entry.getArgAttr(number, EntrySignature::kBatchDim) ||
        random.chance(10))
      continue;
    entry.setArgAttr(number, EntrySignature::kBatchDim, builder.getI64IntegerAttr(dim));
    entry.setArgAttr(number, EntrySignature::kRole, builder.getStringAttr("input"));
  }
}

namespace {

constexpr int64_t kMostMicrobatches = 24;

/// Phrases of the errors that refuse to cut a batch whose samples are coupled.
constexpr StringLiteral kRefusals[] = {
    "couples the samples of a batch", "reads both a total over the batch",
    "samples cannot share evenly", "have no variance", "each micro-batch has its own value"};

class BatchChecker {
public:
  BatchChecker(StringRef text, MLIRContext *context, std::optional<uint64_t> seed)
      : text(text), context(context), random(seed.value_or(0)), isThorough(!seed) {}

  Verdict run() {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        diagnostics += diagnostic.str() + "\n";
      return success();
    });
    int64_t batch = findBatch();
    if (!verdict.kind.empty())
      return verdict;
    std::vector<Tensor> whole = interpretIn(1, 1), cut;
    checkStages(1, whole);
    if (batch < 2)
      return verdict;
    // Each micro-batch has its own copy of the ops, so their number is limited.
    int64_t most = std::min<int64_t>(batch, kMostMicrobatches);
    SmallVector<int64_t> numbers{random.within(2, most)};
    if (isThorough)
      numbers.append({2, most});
    for (int64_t number : numbers)
      if (verdict.kind.empty() && !(cut = interpretIn(number, drawLanes(number))).empty())
        compare(whole, cut), checkStages(number, cut);
    return verdict;
  }

private:
  void fail(StringRef kind, const Twine &details) {
    verdict.kind = kind.str();
    verdict.details = details.str();
  }

  /// Returns the samples of the batch; 0 if there is none.
  int64_t findBatch() {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
    if (!module) {
      fail("text", "it cannot be parsed: " + diagnostics);
      return 0;
    }
    module->walk([&](Operation *op) {
      if (isa_and_nonnull<RepriseDialect>(op->getDialect()))
        verdict.generated.insert(op->getName().getStringRef().str());
    });
    auto entry = module->lookupSymbol<func::FuncOp>("train");
    EntrySignature signature(entry);
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (std::optional<int64_t> dim = signature.getBatchDim(i))
        return cast<RankedTensorType>(entry.getArgumentTypes()[i]).getDimSize(*dim);
    return 0;
  }

  /// Draws a number that divides that of micro-batches.
  int64_t drawLanes(int64_t microbatches) {
    int64_t lanes = random.within(1, microbatches);
    while (microbatches % lanes != 0)
      --lanes;
    return lanes;
  }

  /// Returns the results; none if the program is refused, or after an error.
  std::vector<Tensor> interpretIn(int64_t microbatches, int64_t divided) {
    lanes = divided;
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
    PhaseOptions phases;
    phases.microbatches = microbatches;
    phases.lanes = lanes;
    diagnostics.clear();
    if (failed(runPhases(*module, Phase::Checkpoint, phases))) {
      bool isRefused = llvm::any_of(
          kRefusals, [&](StringRef words) { return StringRef(diagnostics).contains(words); });
      if (!isRefused)
        fail("error", Twine(microbatches) + " micro-batches: " + diagnostics);
      return {};
    }
    auto entry = module->lookupSymbol<ProgramOp>("train");
    FailureOr<std::vector<Tensor>> results = interpret(entry, takeValues(entry));
    if (failed(results))
      fail("error", "interpreted: " + diagnostics);
    return succeeded(results) ? std::move(*results) : std::vector<Tensor>();
  }

  /// Draws a number of replicas that share the lanes: 2^k lanes each.
  int64_t drawReplicas() {
    SmallVector<int64_t> possible;
    for (int64_t each = 1; each <= lanes; each *= 2)
      if (lanes % each == 0)
        possible.push_back(lanes / each);
    return random.chance(50) ? 1 : random.pick(possible);
  }

  /// Checks that replicas of a pipeline have the bits of one device with as many micro-batches.
  void checkStages(int64_t microbatches, const std::vector<Tensor> &one) {
    if (!verdict.kind.empty() || one.empty())
      return;
    PhaseOptions phases;
    phases.microbatches = microbatches;
    phases.lanes = lanes;
    phases.stages.replicas = drawReplicas();
    phases.stages.devices = random.within(phases.stages.replicas > 1 ? 1 : 2, 4);
    phases.stages.leastPart = random.chance(50) ? 1 : 64;
    phases.stages.schedule = random.pick(pipeline::getRules()).name;
    std::string name = phases.stages.schedule + " on " + std::to_string(phases.stages.replicas) +
                       " x " + std::to_string(phases.stages.devices) + " devices, " +
                       std::to_string(microbatches) + " micro-batches in " + std::to_string(lanes) +
                       " lanes";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
    diagnostics.clear();
    if (failed(runPhases(*module, Phase::Checkpoint, phases))) {
      if (!StringRef(diagnostics).contains("can be cut into at most") &&
          !StringRef(diagnostics).contains("orders a forward and a backward pass"))
        fail("error", name + ": " + diagnostics);
      return;
    }
    std::vector<Tensor> results;
    uint64_t order = random.below(1 << 20);
    if (!interpretAll(*module, results, order))
      fail("error", name + ", interpreted in order " + Twine(order) + ": " + diagnostics);
    if (verdict.kind.empty() && results.size() != one.size())
      fail("mismatch",
           name + ": " + Twine(results.size()) + " results, expected " + Twine(one.size()));
    for (auto [number, a, b] : llvm::zip(llvm::seq(one.size()), one, results))
      if (verdict.kind.empty() && (a.type != b.type || a.bytes != b.bytes))
        fail("mismatch", name + ": result " + Twine(number) + " is not that of one device");
  }

  /// Runs all device programs. Results are in the order of the step, and in one piece.
  static bool interpretAll(ModuleOp module, std::vector<Tensor> &results, uint64_t order) {
    std::vector<ProgramCall> calls;
    for (ProgramOp program : findPrograms(module))
      calls.push_back({program, takeValues(program)});
    FailureOr<std::vector<std::vector<Tensor>>> returned = interpretPrograms(calls, order);
    if (failed(returned))
      return false;
    using Part = std::pair<std::optional<EntrySignature::Rows>, Tensor>;
    std::map<int64_t, Part> parts; // by position
    for (auto [call, own] : llvm::zip(calls, *returned)) {
      EntrySignature signature(call.program);
      for (auto [number, tensor] : llvm::enumerate(own))
        parts[signature.getResultPosition(number)] = {signature.getResultRows(number), tensor};
    }
    for (auto &[place, part] : parts) {
      auto &[rows, tensor] = part;
      if (!rows || rows->first == 0)
        results.push_back(std::move(tensor));
      else
        llvm::append_range(results.back().bytes, tensor.bytes);
      if (rows) {
        SmallVector<int64_t> shape(results.back().type.getShape());
        shape.front() = rows->of;
        results.back().type = results.back().type.clone(shape);
      }
    }
    return true;
  }

  static std::vector<Tensor> takeValues(FunctionOpInterface entry) {
    EntrySignature signature(entry);
    std::vector<Tensor> values;
    for (BlockArgument argument : entry.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      unsigned number = argument.getArgNumber();
      Attribute init = signature.getInit(number);
      std::optional<EntrySignature::Rows> rows = signature.getArgumentRows(number);
      StringRef name = rows ? rows->whole.getValue() : signature.getArgumentName(number);
      values.push_back(init ? initialValue(type, name, init, 1, 0,
                                           signature.getRole(number) == "input",
                                           rows ? RowsOf{rows->first, rows->of} : RowsOf())
                            : Tensor(type));
    }
    return values;
  }

  void compare(const std::vector<Tensor> &whole, const std::vector<Tensor> &cut) {
    for (auto [number, a, b] : llvm::enumerate(whole, cut))
      if (a.type != b.type || !areNear(a, b))
        return fail("mismatch", "result " + Twine(number) +
                                    " of micro-batches is not near that of "
                                    "the whole batch");
  }

  static double valueAt(const Tensor &tensor, int64_t i) {
    Type type = tensor.type.getElementType();
    if (type.isF64())
      return tensor.data<double>()[i];
    if (type.isF32())
      return tensor.data<float>()[i];
    uint16_t bits = tensor.data<uint16_t>()[i];
    return type.isBF16() ? reference::fromBf16(bits) : reference::fromF16(bits);
  }

  /// Floats agree but for the order of sums, by the size of the largest one; others to the bit. A
  /// program may round to 16 bits anywhere.
  bool areNear(const Tensor &whole, const Tensor &cut) const {
    if (!isa<FloatType>(whole.type.getElementType()))
      return whole.bytes == cut.bytes;
    double largest = 1e-6;
    for (int64_t i = 0; i < whole.size(); ++i)
      if (double value = std::abs(valueAt(whole, i)); std::isfinite(value))
        largest = std::max(largest, value);
    double tolerance = (text.contains("f16") ? 1e-2 : 1e-3) * largest;
    for (int64_t i = 0; i < whole.size(); ++i) {
      double a = valueAt(whole, i), b = valueAt(cut, i);
      bool isSame = a == b || (std::isnan(a) && std::isnan(b));
      if (!isSame && !(std::abs(a - b) <= tolerance))
        return false;
    }
    return true;
  }

  StringRef text;
  MLIRContext *context;
  Random random;
  bool isThorough;
  int64_t lanes = 1; ///< lanes of the program that is compared
  Verdict verdict;
  std::string diagnostics;
};

} // namespace

Verdict checkBatches(StringRef text, MLIRContext *context, std::optional<uint64_t> seed) {
  return BatchChecker(text, context, seed).run();
}

} // namespace reprise::fuzz
