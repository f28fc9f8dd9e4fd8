// reprise: registration of all that the tools know, in one place
#ifndef REPRISE_INITALL_H
#define REPRISE_INITALL_H

namespace mlir {
class DialectRegistry;
}

namespace reprise {

/// Registers our dialects and the upstream ones that our passes read or produce, with the
/// extensions that inlining and the way to LLVM IR need. A context made with the registry can hold
/// a program in any phase.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers our passes and pipelines, and upstream's transformations and conversions, under their
/// command line names. Once per process.
void registerAllPasses();

} // namespace reprise

#endif // REPRISE_INITALL_H
