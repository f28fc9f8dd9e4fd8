// reprise: kernels of elementwise, row-wise, reducing and data-moving groups for the CPU
#include "reprise/Conversion/Cpu/Loops.h"

#include "LoopKernel.h"
#include "LoopProgram.h"
#include "LoopScatter.h"

using namespace mlir;

namespace reprise {

using namespace loops;

bool isLoopGroup(Block &body) {
  FailureOr<Program> program = planProgram(body);
  if (failed(program))
    return false;
  auto works = llvm::make_filter_range(body.without_terminator(), [](Operation &op) {
    return !op.hasTrait<OpTrait::ConstantLike>();
  });
  return std::distance(works.begin(), works.end()) <= 1 || isOnePass(*program);
}

static EmittedCommand emitNest(const Nest &nest, StringRef name, ModuleOp kernels,
                               const CpuTarget &target) {
  if (nest.scatter) {
    EmittedCommand command = emitScatter(cast<ScatterAddOp>(nest.scatter), name, kernels, target);
    command.buffers = nest.scatterBuffers;
    return command;
  }
  Schedule schedule = makeSchedule(nest.graph, target.registers());
  KernelBuilder k(kernels, name);
  NestEmitter(k, nest.graph, schedule).emit();
  return {name.str(), schedule.items, nest.graph.buffers, schedule.workerBytes};
}

FailureOr<EmittedLaunch> emitLoops(Block &body, StringRef name, ModuleOp kernels,
                                   const CpuTarget &target) {
  FailureOr<Program> program = planProgram(body);
  if (failed(program))
    return body.getParentOp()->emitError("the group holds an op that no loop nest computes");
  EmittedLaunch launch;
  launch.sharedBytes = program->sharedBytes;
  for (auto [i, nest] : llvm::enumerate(program->nests)) {
    std::string own = i == 0 ? name.str() : (name + "." + Twine(i)).str();
    launch.commands.push_back(emitNest(nest, own, kernels, target));
  }
  return launch;
}

} // namespace reprise
