// reprise: GFLOP/s of our convolutions in comparison with oneDNN's, in one run
//
// usage: bench-convolution [--target=T] [--threads=N] [--filter=TEXT] [--json=FILE]
// [--repetitions=N] [--own] [--commands]
// Forward, image gradient and filter gradient of each shape. oneDNN chooses its own layouts, and
// reorders outside of the measurement; ours reads and writes [n, c, y, x]. Best of several runs
// each, taken in turns. --own measures only ours, --commands each of its commands.
#include "Measure.h"
#include "reprise/Conversion/Cpu/EmitLaunch.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <dnnl.hpp>

using namespace mlir;
using namespace reprise;
using namespace reprise::bench;

namespace {

Options options(9, {"--own", "--commands"});

struct Shape {
  const char *name;
  int64_t samples, channels, size, outputs, window, stride, padding, groups;

  int64_t outputSize() const { return (size + 2 * padding - window) / stride + 1; }
  int64_t imageElements() const { return samples * channels * size * size; }
  int64_t filterElements() const { return outputs * channels / groups * window * window; }
  int64_t outputElements() const { return samples * outputs * outputSize() * outputSize(); }
  double flops() const {
    return 2.0 * double(outputElements()) * double(channels / groups * window * window);
  }
};

const Shape shapes[] = {
    {"resnet18 stem", 16, 3, 64, 64, 7, 2, 3, 1},
    {"resnet18 64", 16, 64, 16, 64, 3, 1, 1, 1},
    {"resnet18 64/2", 16, 64, 16, 128, 3, 2, 1, 1},
    {"resnet18 64/2 1x1", 16, 64, 16, 128, 1, 2, 0, 1},
    {"resnet18 128", 16, 128, 8, 128, 3, 1, 1, 1},
    {"resnet18 256", 16, 256, 4, 256, 3, 1, 1, 1},
    {"resnet18 256/2", 16, 256, 4, 512, 3, 2, 1, 1},
    {"resnet18 512", 16, 512, 2, 512, 3, 1, 1, 1},
    {"resnet50 64-256 1x1", 16, 64, 16, 256, 1, 1, 0, 1},
    {"resnet50 256-64 1x1", 16, 256, 16, 64, 1, 1, 0, 1},
    {"resnet50 512-128 1x1", 16, 512, 8, 128, 1, 1, 0, 1},
    {"resnet50 2048-512 1x1", 16, 2048, 2, 512, 1, 1, 0, 1},
    {"imagenet 128 of 28", 4, 128, 28, 128, 3, 1, 1, 1},
    {"imagenet 512 of 7", 4, 512, 7, 512, 3, 1, 1, 1},
    {"unet 32 of 64", 4, 32, 64, 32, 3, 1, 1, 1},
    {"unet 64 of 32", 4, 64, 32, 64, 3, 1, 1, 1},
    {"unet up 128-64", 4, 64, 32, 128, 2, 2, 0, 1},
    {"depthwise 128 of 28", 8, 128, 28, 128, 3, 1, 1, 128},
    {"depthwise 256/2 of 14", 8, 256, 14, 256, 3, 2, 1, 256},
    {"grouped 32x4 of 16", 16, 128, 16, 128, 3, 1, 1, 32},
};

/// Op by the buffers that it reads and writes: 0 image, 1 filter, 2 output.
struct Direction {
  const char *name, *op;
  int inputs[2], result;
};
const Direction directions[] = {{"forward", "convolution", {0, 1}, 2},
                                {"image", "convolution_transpose", {2, 1}, 0},
                                {"filter", "convolution_filter", {0, 2}, 1}};

std::string programOf(const Shape &s, const Direction &direction) {
  std::string types[3] = {
      llvm::formatv("tensor<{0}x{1}x{2}x{2}xf32>", s.samples, s.channels, s.size),
      llvm::formatv("tensor<{0}x{1}x{2}x{2}xf32>", s.outputs, s.channels / s.groups, s.window),
      llvm::formatv("tensor<{0}x{1}x{2}x{2}xf32>", s.samples, s.outputs, s.outputSize())};
  const std::string &x = types[direction.inputs[0]], &y = types[direction.inputs[1]];
  const std::string &z = types[direction.result];
  return "func.func @f(%x: " + x + ", %y: " + y + ") -> " + z + " {\n  %0 = reprise." +
         direction.op +
         llvm::formatv(" %x, %y strides [{0}, {0}] low [{1}, {1}] high [{1}, {1}] "
                       "dilation [1, 1] {{groups = {2} : i64} : (",
                       s.stride, s.padding, s.groups)
             .str() +
         x + ", " + y + ") -> " + z + "\n  return %0 : " + z + "\n}";
}

/// Our kernels of one op.
class Own {
public:
  Own(MLIRContext &context, const Shape &shape, const Direction &direction, const CpuTarget &target,
      float *const *arrays) {
    double start = seconds();
    auto module = parseSourceString<ModuleOp>(programOf(shape, direction), &context);
    auto function = module->lookupSymbol<func::FuncOp>("f");
    OwningOpRef<ModuleOp> kernels = ModuleOp::create(module->getLoc());
    auto emitted = emitLaunch(function.getBody().front(), "k", *kernels, target);
    FailureOr<Image> image = failure();
    if (succeeded(emitted))
      image = compileKernels(*kernels, target);
    if (failed(image))
      exit(1);
    compileSeconds = seconds() - start;
    launch = *emitted;
    char *base = mapImage(*image);
    char *shared =
        static_cast<char *>(aligned_alloc(64, llvm::alignTo(launch.sharedBytes + 64, 64)));
    for (const EmittedCommand &command : launch.commands) {
      functions.push_back(reinterpret_cast<KernelFn>(base + image->symbols.at(command.kernel)));
      workerBytes = std::max(workerBytes, command.workerBytes);
      std::vector<void *> &pointers = buffers.emplace_back();
      for (const BufferSlot &slot : command.buffers) {
        char *start = shared;
        if (slot.kind != BufferSlot::Shared)
          start = reinterpret_cast<char *>(
              arrays[slot.kind == BufferSlot::Output ? direction.result
                                                     : direction.inputs[slot.index]]);
        pointers.push_back(start + slot.offset);
      }
    }
  }

  void run(Workers &workers) {
    for (size_t c = 0; c < functions.size(); ++c)
      workers.run(functions[c], launch.commands[c].items, buffers[c].data());
  }

  /// Prints the time of each command, the best of several.
  void printCommands(Workers &workers) {
    for (size_t c = 0; c < functions.size(); ++c) {
      const EmittedCommand &command = launch.commands[c];
      double best = 1e30;
      for (int i = 0; i < 20; ++i) {
        double start = threadSeconds();
        workers.run(functions[c], command.items, buffers[c].data());
        best = std::min(best, threadSeconds() - start);
      }
      printf("    %-12s %5d items %9.1f µs\n", command.kernel.c_str(), int(command.items),
             best * 1e6);
    }
  }

  double compileSeconds = 0;
  int64_t workerBytes = 0;

private:
  EmittedLaunch launch;
  std::vector<KernelFn> functions;
  std::vector<std::vector<void *>> buffers;
};

/// Primitive of oneDNN for one op, with its preferred layouts.
class Library {
public:
  using Desc = dnnl::memory::desc;

  Library(const Shape &s, const Direction &direction)
      : engine(dnnl::engine::kind::cpu, 0), stream(engine) {
    using dnnl::memory;
    auto tensor = [](memory::dims sizes, memory::format_tag tag) {
      return Desc(sizes, memory::data_type::f32, tag);
    };
    memory::dims image = {s.samples, s.channels, s.size, s.size};
    memory::dims weights = {s.outputs, s.channels / s.groups, s.window, s.window};
    memory::dims output = {s.samples, s.outputs, s.outputSize(), s.outputSize()};
    if (s.groups > 1)
      weights = {s.groups, s.outputs / s.groups, s.channels / s.groups, s.window, s.window};
    auto any = memory::format_tag::any;
    Desc i = tensor(image, any), f = tensor(weights, any), o = tensor(output, any);
    memory::dims strides(2, s.stride), dilation(2, 0), padding(2, s.padding);
    auto kind = dnnl::algorithm::convolution_direct;
    dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, kind, i, f, o, strides, dilation, padding, padding},
        engine);
    Desc found[3];
    if (direction.result == 2) {
      found[0] = forward.src_desc(), found[1] = forward.weights_desc();
      found[2] = forward.dst_desc();
      primitive = dnnl::convolution_forward(forward);
    } else if (direction.result == 0) {
      dnnl::convolution_backward_data::primitive_desc backward(
          {kind, i, f, o, strides, dilation, padding, padding}, engine, forward);
      found[0] = backward.diff_src_desc(), found[1] = backward.weights_desc();
      found[2] = backward.diff_dst_desc();
      primitive = dnnl::convolution_backward_data(backward);
    } else {
      dnnl::convolution_backward_weights::primitive_desc backward(
          {kind, i, f, o, strides, dilation, padding, padding}, engine, forward);
      found[0] = backward.src_desc(), found[1] = backward.diff_weights_desc();
      found[2] = backward.diff_dst_desc();
      primitive = dnnl::convolution_backward_weights(backward);
    }
    auto filterTag = s.groups > 1 ? memory::format_tag::goihw : memory::format_tag::oihw;
    plain[0] = tensor(image, memory::format_tag::nchw);
    plain[1] = tensor(weights, filterTag);
    plain[2] = tensor(output, memory::format_tag::nchw);
    for (int array : {0, 1, 2})
      memories[array] = memory(found[array], engine);
    const int names[3][3] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                             {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                             {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}};
    const int *chosen = names[direction.result == 2 ? 0 : direction.result == 0 ? 1 : 2];
    for (int array : {0, 1, 2})
      arguments.insert({chosen[array], memories[array]});
  }

  void read(int array, float *from) {
    dnnl::memory source(plain[array], engine, from);
    dnnl::reorder(source, memories[array]).execute(stream, source, memories[array]);
    stream.wait();
  }
  void write(int array, float *to) {
    dnnl::memory target(plain[array], engine, to);
    dnnl::reorder(memories[array], target).execute(stream, memories[array], target);
    stream.wait();
  }
  void run() {
    primitive.execute(stream, arguments);
    stream.wait();
  }

private:
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::primitive primitive;
  Desc plain[3];
  dnnl::memory memories[3];
  std::unordered_map<int, dnnl::memory> arguments;
};

/// The largest difference relative to the largest element.
double distance(const float *x, const float *y, int64_t count) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    worst = std::max(worst, double(std::abs(x[i] - y[i])));
    largest = std::max(largest, double(std::abs(y[i])));
  }
  return worst / largest;
}

llvm::json::Object benchmark(MLIRContext &context, const Shape &shape, const Direction &direction,
                             const CpuTarget &target) {
  int64_t elements[3] = {shape.imageElements(), shape.filterElements(), shape.outputElements()};
  float *arrays[3] = {allocate(elements[0]), allocate(elements[1]), allocate(elements[2])};
  float *theirs = allocate(elements[direction.result]);
  Own kernels(context, shape, direction, target, arrays);
  std::unique_ptr<Library> library;
  std::string name = (llvm::Twine(shape.name) + " " + direction.name).str();
  llvm::json::Object row{
      {"shape", name},
      {"direction", direction.name},
      {"flops", shape.flops()},
      {"sizes", llvm::json::Array{shape.samples, shape.channels, shape.size, shape.outputs,
                                  shape.window, shape.stride, shape.padding, shape.groups}}};
  printf("%-30s", name.c_str());
  for (int threads = 1; threads <= options.threads; ++threads) {
    setLibraryThreads(threads);
    if (!options.has("--own")) { // a primitive is made for a number of threads
      library = std::make_unique<Library>(shape, direction);
      for (int input : direction.inputs)
        library->read(input, arrays[input]);
    }
    Stopwatch mine{threads == 1 ? threadSeconds : seconds}, other = mine;
    for (int i = 0; i < options.repetitions; ++i) {
      Workers workers(threads, kernels.workerBytes);
      mine.measure(shape.flops(), [&] { kernels.run(workers); });
      workers.stop();
      if (library)
        other.measure(shape.flops(), [&] { library->run(); });
    }
    double rate = shape.flops() / mine.best / 1e9;
    double libraryRate = library ? shape.flops() / other.best / 1e9 : rate;
    printf("  | %6.1f %6.1f  %.3f", rate, libraryRate, rate / libraryRate);
    row["own_" + std::to_string(threads)] = rate;
    if (library)
      row["onednn_" + std::to_string(threads)] = libraryRate;
  }
  if (options.has("--commands")) {
    Workers worker(1, kernels.workerBytes);
    kernels.printCommands(worker);
  }
  bool same = true;
  if (library) {
    library->write(direction.result, theirs);
    same = distance(arrays[direction.result], theirs, elements[direction.result]) < 1e-4;
  }
  printf("  | %3.0f ms  %s\n", kernels.compileSeconds * 1e3, same ? "" : "DIFFERENT");
  fflush(stdout);
  for (float *array : {arrays[0], arrays[1], arrays[2], theirs})
    free(array);
  return row;
}

} // namespace

int main(int argc, char **argv) {
  if (!options.parse(argc, argv))
    return 2;
  llvm::Expected<CpuTarget> target = CpuTarget::get(options.target);
  if (!target) {
    llvm::errs() << "bench-convolution: " << llvm::toString(target.takeError()) << "\n";
    return 2;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  printf("GFLOP/s on %s: own, oneDNN, ratio, for 1 to %d threads\n", target->tune.c_str(),
         options.threads);
  llvm::json::Array rows;
  for (const Shape &shape : shapes)
    for (const Direction &direction : directions)
      if (std::string(shape.name).append(" ").append(direction.name).find(options.filter) !=
          std::string::npos)
        rows.push_back(benchmark(context, shape, direction, *target));
  return finish(std::move(rows), options);
}
