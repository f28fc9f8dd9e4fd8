// reprise: registration of all dialects and passes that the tools use
#ifndef REPRISE_INITALL_H
#define REPRISE_INITALL_H

namespace mlir {
class DialectRegistry;
}

namespace reprise {

/// Registers our dialects and the upstream dialects that our passes read or produce, with the
/// extensions for inlining and for lowering to LLVM IR. A context made with the registry can hold a
/// program in any phase.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers our passes and pipelines, and upstream's transformations and conversions, under their
/// command line names. Call it once per process.
void registerAllPasses();

} // namespace reprise

#endif // REPRISE_INITALL_H
