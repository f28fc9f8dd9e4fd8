// reprise: GFLOP/s of our contractions beside oneDNN's, in one run
//
// usage: bench-contraction [--target=T] [--threads=N] [--filter=TEXT] [--json=FILE]
// [--repetitions=N] [--bf16] [--relu]
// --bf16: our operands and result are bf16 (oneDNN's stay f32); --relu: ours applies max(x, 0) to
// each finished block. Best of several runs each, taken in turns; results are compared with the
// scalar chain of fma by the tests, not here.
#include "reprise/Conversion/Cpu/Contraction.h"
#include "Measure.h"

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

std::string targetName = "native", filter, jsonFile;
int mostThreads = 2, repetitions = 15;
bool bf16 = false, relu = false;

/// LLVM's libraries have registered flags of these names, so that its parser cannot serve.
bool parse(llvm::StringRef argument) {
  auto [flag, value] = argument.split('=');
  if (flag == "--bf16" || flag == "--relu")
    return flag == "--bf16" ? bf16 = true : relu = true;
  if (flag == "--threads" || flag == "--repetitions")
    return !value.getAsInteger(10, flag == "--threads" ? mostThreads : repetitions);
  std::string *text = flag == "--target"   ? &targetName
                      : flag == "--filter" ? &filter
                      : flag == "--json"   ? &jsonFile
                                           : nullptr;
  if (text)
    *text = value.str();
  return text;
}

struct Shape {
  int64_t m, n, k;
  bool lhsTransposed, rhsTransposed;
  std::string name() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
           (lhsTransposed ? " A" : "") + (rhsTransposed ? " B" : "");
  }
  double flops() const { return 2.0 * m * n * k; }
};

/// The table of shapes of a small GPT's step, a square one, and skinny ones.
const Shape shapes[] = {{1024, 1152, 384, false, false}, {1024, 384, 1152, false, true},
                        {384, 1152, 1024, true, false},  {1024, 1536, 384, false, false},
                        {384, 1536, 1024, true, false},  {1024, 384, 1536, false, false},
                        {256, 1024, 1024, false, false}, {1024, 1024, 256, true, false},
                        {1024, 256, 384, false, false},  {2048, 2048, 2048, false, false},
                        {256, 10, 1024, false, false},   {1, 1024, 1024, false, false},
                        {1, 1024, 1024, false, true},    {64, 1152, 1024, false, false},
                        {17, 1024, 1024, false, true},   {1024, 8192, 768, false, true},
                        {256, 64, 256, false, false},    {1024, 65, 64, false, false},
                        {128, 128, 64, false, true},     {64, 64, 64, false, false}};

struct Compiled {
  SmallVector<KernelCommand> commands;
  std::vector<KernelFn> kernels;
  int64_t sharedBytes = 0, workerBytes = 0;
  double compileSeconds = 0;
};

/// Stores max(x, 0) of a block, row by row.
void storeRelu(KernelBuilder &k, const ContractionBlock &block, const Shape &shape, int64_t lanes,
               Type type) {
  Type f32 = k.builder().getF32Type();
  k.forLoop(block.row0, block.row1, k.i64(1), [&](Value row) {
    Value from = k.mul(k.sub(row, block.row0), block.ld);
    Value to = k.add(k.mul(row, shape.n), block.column0);
    auto part = [&](Value low, Value high, int64_t width) {
      k.forLoop(low, high, k.i64(width), [&](Value at) {
        Value sum = k.load(f32, block.scratch, k.add(from, at), width);
        Value zero = k.constant(sum.getType(), 0);
        Value isNegative = arith::CmpFOp::create(k.builder(), arith::CmpFPredicate::OLT, sum, zero);
        sum = arith::SelectOp::create(k.builder(), isNegative, zero, sum);
        k.storeCompute(type, sum, k.buffer(2), k.add(to, at));
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
  Type type = bf16 ? Type(BFloat16Type::get(&context)) : Float32Type::get(&context);
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
  if (relu)
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
  llvm::json::Object row{{"shape", shape.name()}, {"compile_seconds", compiled.compileSeconds}};
  printf("%-20s", shape.name().c_str());
  for (int threads = 1; threads <= mostThreads; ++threads) {
    Workers workers(threads, compiled.workerBytes);
    setLibraryThreads(threads);
    Stopwatch own{threads == 1 ? threadSeconds : seconds}, library = own;
    for (int i = 0; i < repetitions; ++i) {
      own.measure(shape.flops(), [&] {
        for (size_t c = 0; c < compiled.commands.size(); ++c)
          workers.run(compiled.kernels[c], compiled.commands[c].items, buffers);
      });
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
         worst < 1e-4 || bf16 ? "" : "DIFFERENT");
  fflush(stdout);
  free(lhs), free(rhs), free(ours), free(theirs), free(shared);
  return row;
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!parse(argv[i])) {
      llvm::errs() << "bench-contraction: unknown argument '" << argv[i] << "'\n";
      return 2;
    }
  llvm::Expected<CpuTarget> target = CpuTarget::get(targetName);
  if (!target) {
    llvm::errs() << "bench-contraction: " << llvm::toString(target.takeError()) << "\n";
    return 2;
  }
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      vector::VectorDialect>();
  printf("GFLOP/s on %s: own, oneDNN, ratio, for 1 to %d threads\n", target->tune.c_str(),
         mostThreads);
  llvm::json::Array rows;
  for (const Shape &shape : shapes)
    if (shape.name().find(filter) != std::string::npos)
      rows.push_back(benchmark(context, shape, *target));
  for (int threads = 1; threads <= mostThreads; ++threads) {
    double logs = 0;
    for (llvm::json::Value &row : rows) {
      llvm::json::Object &fields = *row.getAsObject();
      logs += std::log(*fields.getNumber("own_" + std::to_string(threads)) /
                       *fields.getNumber("onednn_" + std::to_string(threads)));
    }
    printf("geometric mean of the ratio, %d threads: %.3f\n", threads,
           std::exp(logs / rows.size()));
  }
  if (jsonFile.empty())
    return 0;
  std::error_code error;
  llvm::raw_fd_ostream out(jsonFile, error);
  out << llvm::formatv("{0:2}", llvm::json::Value(std::move(rows))) << "\n";
  return error ? 1 : 0;
}
