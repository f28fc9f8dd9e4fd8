// reprise: the CPU as a target of the phases
#ifndef REPRISE_CONVERSION_CPU_CPUBACKEND_H
#define REPRISE_CONVERSION_CPU_CPUBACKEND_H

#include "reprise/Conversion/Cpu/Target.h"

namespace reprise {

class CpuBackend : public Target {
public:
  explicit CpuBackend(CpuTarget cpu) : cpu(std::move(cpu)) { capabilities.continuesSums = true; }

  std::string getName() const override { return "cpu:" + cpu.name; }
  std::vector<std::string> getFeatures() const override { return {cpu.level}; }
  bool canHold(llvm::ArrayRef<mlir::Operation *> ops) const override;
  InPlacePairs findInPlacePairs(mlir::Block &body) const override;
  mlir::OwningOpRef<mlir::Operation *> formNests(mlir::Block &body,
                                                 llvm::StringRef name) const override;
  mlir::FailureOr<EmittedLaunch> emitLaunch(mlir::Block &body, llvm::StringRef name,
                                            mlir::ModuleOp kernels) const override;
  mlir::FailureOr<EmittedLaunch> emitNests(mlir::Operation *program, llvm::StringRef name,
                                           mlir::ModuleOp kernels) const override;
  mlir::FailureOr<Scratch> findScratch(mlir::Block &body) const override;
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  lowerKernels(mlir::ModuleOp kernels) const override;
  mlir::FailureOr<Image> compileKernels(mlir::ModuleOp kernels) const override;

private:
  CpuTarget cpu;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CPUBACKEND_H
