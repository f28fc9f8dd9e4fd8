// reprise: kernels of elementwise, row-wise, reducing and data-moving groups for the CPU
#include "reprise/Conversion/Cpu/LoopNests.h"

#include "../LoopNest/NestEmitter.h"
#include "../LoopNest/Program.h"
#include "NestAlone.h"
#include "NestSchedule.h"

using namespace mlir;

namespace reprise {

using namespace nests;

bool isNestGroup(Block &body) {
  FailureOr<Program> program = planProgram(body, NestRules());
  if (failed(program))
    return false;
  auto works = llvm::make_filter_range(body.without_terminator(), [](Operation &op) {
    return !op.hasTrait<OpTrait::ConstantLike>();
  });
  return std::distance(works.begin(), works.end()) <= 1 || isOnePass(*program);
}

static SmallVector<EmittedCommand> emitNest(const Nest &nest, StringRef name, ModuleOp kernels,
                                            const CpuTarget &target) {
  if (nest.alone) {
    auto commands = emitAlone({nest.alone, nest.storedResults, name, kernels, target});
    for (EmittedCommand &command : commands)
      command.buffers = nest.aloneBuffers;
    return commands;
  }
  Schedule schedule = makeSchedule(nest.graph, target.registers());
  KernelBuilder k(kernels, name);
  NestEmitter(k, nest.graph, schedule).emit();
  return {{name.str(), schedule.items, nest.graph.buffers, schedule.workerBytes}};
}

FailureOr<EmittedLaunch> emitLoopNests(Block &body, StringRef name, ModuleOp kernels,
                                       const CpuTarget &target) {
  FailureOr<Program> program = planProgram(body, NestRules());
  if (failed(program))
    return body.getParentOp()->emitError("the group holds an op that no loop nest computes");
  EmittedLaunch launch;
  launch.sharedBytes = program->sharedBytes;
  for (auto [i, nest] : llvm::enumerate(program->nests)) {
    std::string own = i == 0 ? name.str() : (name + "." + Twine(i)).str();
    launch.commands.append(emitNest(nest, own, kernels, target));
  }
  return launch;
}

} // namespace reprise
