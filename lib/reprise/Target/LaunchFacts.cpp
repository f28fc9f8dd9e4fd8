// reprise: properties of launches on a target before they are compiled
#include "reprise/Target/LaunchFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Dialect/Reprise/IR/Call.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Target/GivenNests.h"

using namespace mlir;

namespace reprise {
namespace {

template <typename... Dialects> struct DialectList {
  static void insert(DialectRegistry &registry) { registry.insert<Dialects...>(); }
  static void load(MLIRContext &context) { context.loadDialect<Dialects...>(); }
};

/// Dialects of the kernels of every target. Scratch bytes are found by emitting kernels on several
/// threads, which may load no dialect.
using KernelDialects = DialectList<exec::ExecDialect, arith::ArithDialect, gpu::GPUDialect,
                                   LLVM::LLVMDialect, math::MathDialect, nests::NestDialect,
                                   NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>;

class BodyWriter {
public:
  std::vector<uintptr_t> write(Block &body) {
    add(body);
    return std::move(words);
  }

private:
  void add(const void *pointer) { words.push_back(reinterpret_cast<uintptr_t>(pointer)); }

  void define(Value value) {
    add(value.getType().getAsOpaquePointer());
    numbers.try_emplace(value, numbers.size());
  }

  void add(Block &block) {
    words.push_back(block.getNumArguments());
    for (BlockArgument argument : block.getArguments())
      define(argument);
    for (Operation &op : block)
      add(op);
  }

  void add(Operation &op) {
    add(op.getName().getAsOpaquePointer());
    add(op.getAttrDictionary().getAsOpaquePointer());
    words.push_back(op.getNumOperands());
    for (Value operand : op.getOperands())
      words.push_back(numbers.lookup(operand));
    words.push_back(op.getNumResults());
    for (Value result : op.getResults())
      define(result);
    words.push_back(op.getNumRegions());
    for (Region &region : op.getRegions())
      for (Block &block : region)
        add(block);
  }

  std::vector<uintptr_t> words;
  DenseMap<Value, uintptr_t> numbers;
};

} // namespace

std::vector<uintptr_t> describeBody(Block &body) { return BodyWriter().write(body); }

std::vector<uintptr_t> describeLaunch(exec::LaunchOp launch) {
  std::vector<uintptr_t> words = describeBody(launch.getBody().front());
  if (Attribute nests = launch->getAttr(exec::kNestsAttr))
    words.push_back(reinterpret_cast<uintptr_t>(nests.getAsOpaquePointer()));
  return words;
}

void LaunchFacts::addDialects(DialectRegistry &registry) { KernelDialects::insert(registry); }

void LaunchFacts::loadDialects(MLIRContext &context) { KernelDialects::load(context); }

LaunchFacts::LaunchFacts(std::shared_ptr<const Target> target, MLIRContext *context)
    : target(std::move(target)) {
  loadDialects(*context);
}

LogicalResult LaunchFacts::load(StringRef name, Location location,
                                std::shared_ptr<LaunchFacts> &facts) {
  std::shared_ptr<const Target> target;
  if (facts)
    return success();
  if (failed(Target::get(name, location, target)))
    return failure();
  facts = std::make_shared<LaunchFacts>(std::move(target), location.getContext());
  return success();
}

const Target::InPlacePairs &LaunchFacts::findInPlacePairs(exec::LaunchOp launch) {
  Block &body = launch.getBody().front();
  std::vector<uintptr_t> key = describeLaunch(launch);
  std::lock_guard<std::mutex> lock(mutex);
  Facts &facts = byBody[std::move(key)];
  if (!facts.inPlace)
    facts.inPlace = target->findInPlacePairs(body);
  return *facts.inPlace;
}

bool LaunchFacts::mayShare(OpResult result, unsigned input) {
  return llvm::is_contained(findInPlacePairs(cast<exec::LaunchOp>(result.getOwner())),
                            std::pair<unsigned, unsigned>(result.getResultNumber(), input));
}

FailureOr<Scratch> LaunchFacts::findScratch(exec::LaunchOp launch) {
  Block &body = launch.getBody().front();
  std::vector<uintptr_t> key = describeLaunch(launch);
  std::lock_guard<std::mutex> lock(mutex);
  Facts &facts = byBody[std::move(key)];
  if (!facts.scratch) {
    if (failed(verifyGivenNests(launch, *target)))
      return failure();
    FailureOr<Scratch> scratch = target->findScratch(body);
    if (failed(scratch))
      return failure();
    facts.scratch = *scratch;
  }
  return *facts.scratch;
}

FailureOr<int64_t> LaunchFacts::findWorkspace(Operation *function, unsigned threads) {
  int64_t most = 0;
  WalkResult result = function->walk([&](exec::LaunchOp launch) {
    FailureOr<Scratch> scratch = findScratch(launch);
    if (failed(scratch))
      return WalkResult::interrupt();
    most = std::max(most, scratch->worker);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return threads * most + findCallWorkspace(function);
}

} // namespace reprise
