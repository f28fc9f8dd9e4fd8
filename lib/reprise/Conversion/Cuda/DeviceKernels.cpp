// reprise: the kernels of kernels/cuda, which this library holds as LLVM bitcode
#include "DeviceKernels.h"

#include "../Codegen.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"

// The assembler puts the file here: a literal of this size would take the compiler seconds.
asm(R"(
  .section .rodata
  .balign 16
  .type reprise_device_kernels, @object
reprise_device_kernels:
  .incbin ")" REPRISE_DEVICE_KERNELS R"("
reprise_device_kernels_end:
  .size reprise_device_kernels, . - reprise_device_kernels
  .previous
)");
extern "C" __attribute__((visibility("hidden"))) const char reprise_device_kernels[],
    reprise_device_kernels_end[];

namespace reprise {
namespace {

/// Passes that make one function of a kernel and its parts. Sums lie in arrays until the loops over
/// them are unrolled; the last sroa puts them in registers.
constexpr llvm::StringLiteral inlinePasses =
    "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop(loop-unroll-full),sroa,early-cse,instcombine<no-verify-fixpoint>)";

bool callsDeviceKernels(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() && !function.isIntrinsic() && !function.use_empty();
  });
}

/// Hides everything but the kernel, so that nothing but the kernel is left after inlining. Kernels
/// are compiled for the oldest chip, and run on any later one.
void internalize(llvm::Module &module) {
  for (llvm::Function &function : module) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    if (function.isDeclaration() || function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  for (llvm::GlobalVariable &variable : module.globals())
    if (!variable.isDeclaration())
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
}

} // namespace

llvm::Error linkDeviceKernels(llvm::Module &module, llvm::TargetMachine &machine) {
  if (!callsDeviceKernels(module))
    return llvm::Error::success();
  llvm::StringRef bitcode(reprise_device_kernels,
                          reprise_device_kernels_end - reprise_device_kernels);
  auto kernels = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, "kernels/cuda"),
                                            module.getContext());
  if (!kernels)
    return kernels.takeError();
  if (llvm::Linker::linkModules(module, std::move(*kernels), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError("a symbol of kernels/cuda has two definitions");
  internalize(module);
  runPasses(module, machine, inlinePasses);
  return llvm::Error::success();
}

} // namespace reprise
