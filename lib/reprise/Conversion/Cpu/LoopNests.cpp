// reprise: kernels of elementwise, row-wise, reducing and data-moving groups for the CPU
#include "reprise/Conversion/Cpu/LoopNests.h"

#include "../LoopNest/NestEmitter.h"
#include "../LoopNest/Program.h"
#include "NestAlone.h"
#include "NestSchedule.h"

using namespace mlir;

namespace reprise {

using namespace nests;

static SmallVector<EmittedCommand> emitNest(Operation &op, StringRef name, ModuleOp kernels,
                                            const CpuTarget &target) {
  if (auto alone = dyn_cast<AloneOp>(op)) {
    auto commands = emitAlone({alone.getOp(), alone.getStored(), name, kernels, target});
    for (EmittedCommand &command : commands)
      command.buffers = alone.getBuffers();
    return commands;
  }
  Nest nest(cast<KernelOp>(op));
  Schedule schedule = makeSchedule(nest, target.registers());
  KernelBuilder k(kernels, name);
  NestEmitter(k, nest, schedule).emit();
  return {{name.str(), schedule.items, nest.buffers, schedule.workerBytes}};
}

FailureOr<EmittedLaunch> emitLoopNests(Block &body, StringRef name, ModuleOp kernels,
                                       const CpuTarget &target) {
  FailureOr<OwningOpRef<NestProgramOp>> program = planProgram(body, NestRules());
  if (failed(program))
    return body.getParentOp()->emitError("the group holds an op that no loop nest computes");
  return emitNests(**program, name, kernels, target);
}

FailureOr<EmittedLaunch> emitNests(NestProgramOp program, StringRef name, ModuleOp kernels,
                                   const CpuTarget &target) {
  auto schedule = [&](const Nest &nest) { return makeSchedule(nest, target.registers()); };
  if (failed(verifySchedules(program, schedule)))
    return failure();
  EmittedLaunch launch;
  launch.sharedBytes = program.getShared();
  for (auto [i, nest] : llvm::enumerate(program.getBody().front())) {
    std::string own = i == 0 ? name.str() : (name + "." + Twine(i)).str();
    launch.commands.append(emitNest(nest, own, kernels, target));
  }
  return launch;
}

} // namespace reprise
