// reprise: GFLOP/s of our contractions in comparison with oneDNN's, in one run
//
// usage: bench-contraction [--target=T] [--threads=N] [--filter=TEXT] [--json=FILE]
// [--repetitions=N] [--bf16] [--relu]
// --bf16: our operands and result are bf16 (oneDNN's stay f32); --relu: ours applies max(x, 0) to
// each finished block. Best of several runs each, taken in turns. Tests, not this program, compare
// results with the scalar chain of fma.
#include "reprise/Conversion/Cpu/Contraction.h"
#include "Measure.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <dnnl.h>

using namespace mlir;
using namespace reprise;
using namespace reprise::bench;

namespace {

Options options(15, {"--bf16", "--relu"});

struct Shape {
  int64_t m, n, k;
  bool lhsTransposed, rhsTransposed;
  std::string name() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
           (lhsTransposed ? " A" : "") + (rhsTransposed ? " B" : "");
  }
  double flops() const { return 2.0 * m * n * k; }
};

/// Products of the zoo's models of utils/bench/models.py, forward and of both gradients, then
/// further ones: larger, smaller and skinny products.
const Shape shapes[] = {
    // Transformers, 1,024 tokens of width 384: projections, up and down, logits.
    {1024, 384, 384, false, false},
    {1024, 384, 384, false, true},
    {384, 384, 1024, true, false},
    {1024, 1536, 384, false, false},
    {1024, 384, 1536, false, true},
    {384, 1536, 1024, true, false},
    {1024, 384, 1536, false, false},
    {1024, 1536, 384, false, true},
    {1536, 384, 1024, true, false},
    {1024, 256, 384, false, true},
    {1024, 384, 256, false, false},
    {256, 384, 1024, true, false},
    // vit: 512 patches; moe: scores of experts.
    {512, 384, 384, false, false},
    {512, 1536, 384, false, false},
    {384, 1536, 512, true, false},
    {1024, 8, 384, false, false},
    {1024, 384, 8, false, true},
    {384, 8, 1024, true, false},
    // mlp, and the last layer of resnet18.
    {256, 1024, 1024, false, false},
    {256, 1024, 1024, false, true},
    {1024, 1024, 256, true, false},
    {256, 10, 1024, false, false},
    {1024, 10, 256, true, false},
    {256, 1024, 10, false, true},
    {16, 1000, 512, false, false},
    {16, 512, 1000, false, true},
    {512, 1000, 16, true, false},
    // Queries, keys and values at once.
    {1024, 1152, 384, false, false},
    {1024, 384, 1152, false, true},
    {384, 1152, 1024, true, false},
    {2048, 2048, 2048, false, false},
    {1024, 8192, 768, false, true},
    {1, 1024, 1024, false, false},
    {1, 1024, 1024, false, true},
    {17, 1024, 1024, false, true},
    {64, 1152, 1024, false, false},
    {256, 64, 256, false, false},
    {128, 128, 64, false, true},
    {64, 64, 64, false, false}};

struct Compiled {
  SmallVector<KernelCommand> commands;
  std::vector<KernelFn> kernels;
  int64_t sharedBytes = 0, workerBytes = 0;
  double compileSeconds = 0;
};

/// Stores max(x, 0) of a block, row by row.
void storeRelu(KernelBuilder &k, const ContractionBlock &block, const Shape &shape, int64_t lanes,
               Type type) {
  Type f32 = k.b.getF32Type();
  forLoop(k, block.row0, block.row1, k.i64(1), [&](Value row) {
    Value from = k.mul(k.sub(row, block.row0), block.ld);
    Value to = k.add(k.mul(row, shape.n), block.column0);
    auto part = [&](Value low, Value high, int64_t width) {
      forLoop(k, low, high, k.i64(width), [&](Value at) {
        Value sum = emitLoad(k.b, f32, block.scratch, k.add(from, at), width);
        Value zero = emitConstant(k.b, sum.getType(), 0);
        Value isNegative = arith::CmpFOp::create(k.b, arith::CmpFPredicate::OLT, sum, zero);
        sum = arith::SelectOp::create(k.b, isNegative, zero, sum);
        emitStoreRounded(k.b, type, sum, k.buffer(2), k.add(to, at));
      });
    };
    Value count = k.sub(block.column1, block.column0);
    Value whole = k.sub(count, k.rem(count, lanes));
    part(k.i64(0), whole, lanes);
    part(whole, count, 1);
  });
}

Compiled compile(MLIRContext &context, const Shape &shape, const CpuTarget &target) {
  ContractionSpec spec;
  Type type =
      options.has("--bf16") ? Type(BFloat16Type::get(&context)) : Float32Type::get(&context);
  spec.lhsType = spec.rhsType = spec.resultType = type;
  spec.rows = {{shape.m, shape.lhsTransposed ? 1 : shape.k}};
  spec.columns = {{shape.n, shape.rhsTransposed ? shape.k : 1}};
  spec.contracted = {
      {shape.k, shape.lhsTransposed ? shape.m : 1, shape.rhsTransposed ? 1 : shape.n}};
  Compiled compiled;
  double start = seconds();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  auto epilogue = [&](KernelBuilder &k, const ContractionBlock &block) {
    storeRelu(k, block, shape, target.lanes(), type);
  };
  ContractionHooks hooks;
  if (options.has("--relu"))
    hooks.epilogue = epilogue;
  compiled.commands = emitContraction(*module, "contract", spec, target, hooks);
  FailureOr<Image> image = compileKernels(*module, target);
  if (failed(image))
    exit(1);
  compiled.compileSeconds = seconds() - start;
  char *base = mapImage(*image);
  for (const KernelCommand &command : compiled.commands) {
    compiled.kernels.push_back(
        reinterpret_cast<KernelFn>(base + image->symbols.at(command.kernel)));
    compiled.sharedBytes = std::max(compiled.sharedBytes, command.sharedBytes);
    compiled.workerBytes = std::max(compiled.workerBytes, command.workerBytes);
  }
  return compiled;
}

llvm::json::Object benchmark(MLIRContext &context, const Shape &shape, const CpuTarget &target) {
  Compiled compiled = compile(context, shape, target);
  float *lhs = allocate(shape.m * shape.k), *rhs = allocate(shape.k * shape.n);
  float *ours = allocate(shape.m * shape.n), *theirs = allocate(shape.m * shape.n);
  void *shared = aligned_alloc(64, llvm::alignTo(compiled.sharedBytes + 64, 64));
  void *buffers[] = {lhs, rhs, ours, shared};
  llvm::json::Object row{{"shape", shape.name()},
                         {"flops", shape.flops()},
                         {"compile_seconds", compiled.compileSeconds}};
  printf("%-20s", shape.name().c_str());
  for (int threads = 1; threads <= options.threads; ++threads) {
    setLibraryThreads(threads);
    Stopwatch own{threads == 1 ? threadSeconds : seconds}, library = own;
    for (int i = 0; i < options.repetitions; ++i) {
      Workers workers(threads, compiled.workerBytes);
      own.measure(shape.flops(), [&] {
        for (size_t c = 0; c < compiled.commands.size(); ++c)
          workers.run(compiled.kernels[c], compiled.commands[c].items, buffers);
      });
      workers.stop();
      library.measure(shape.flops(), [&] {
        dnnl_sgemm(shape.lhsTransposed ? 'T' : 'N', shape.rhsTransposed ? 'T' : 'N', shape.m,
                   shape.n, shape.k, 1.f, lhs, shape.lhsTransposed ? shape.m : shape.k, rhs,
                   shape.rhsTransposed ? shape.k : shape.n, 0.f, theirs, shape.n);
      });
    }
    double own_ = shape.flops() / own.best / 1e9, library_ = shape.flops() / library.best / 1e9;
    printf("  | %6.1f %6.1f  %.3f", own_, library_, own_ / library_);
    row["own_" + std::to_string(threads)] = own_;
    row["onednn_" + std::to_string(threads)] = library_;
  }
  double worst = 0;
  for (int64_t i = 0; i < shape.m * shape.n; ++i)
    worst = std::max(worst, double(std::abs(ours[i] - theirs[i])) / (1 + std::abs(theirs[i])));
  printf("  | %3.0f ms  %s\n", compiled.compileSeconds * 1e3,
         worst < 1e-4 || options.has("--bf16") ? "" : "DIFFERENT");
  fflush(stdout);
  free(lhs), free(rhs), free(ours), free(theirs), free(shared);
  return row;
}

} // namespace

int main(int argc, char **argv) {
  if (!options.parse(argc, argv))
    return 2;
  llvm::Expected<CpuTarget> target = CpuTarget::get(options.target);
  if (!target) {
    llvm::errs() << "bench-contraction: " << llvm::toString(target.takeError()) << "\n";
    return 2;
  }
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      vector::VectorDialect>();
  printf("GFLOP/s on %s: own, oneDNN, ratio, for 1 to %d threads\n", target->tune.c_str(),
         options.threads);
  llvm::json::Array rows;
  for (const Shape &shape : shapes)
    if (shape.name().find(options.filter) != std::string::npos)
      rows.push_back(benchmark(context, shape, *target));
  return finish(std::move(rows), options);
}
