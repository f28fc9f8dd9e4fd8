// reprise: runs a group as kernels and in the interpreter, and compares the bits
#ifndef REPRISE_TEST_UNIT_CONVERSION_CPU_NESTHARNESS_H
#define REPRISE_TEST_UNIT_CONVERSION_CPU_NESTHARNESS_H

#include "../Cuda/EmulatedGpu.h"
#include "../MappedImage.h"
#include "reprise/Conversion/Cpu/EmitLaunch.h"
#include "reprise/Conversion/Cpu/LoopNests.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"
#include "reprise/InitAll.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/Target/LaunchFacts.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>

namespace reprise::test {

/// Memory whose last byte is followed by an inaccessible page.
class GuardedBytes {
public:
  explicit GuardedBytes(size_t size) : size(size) {
    size_t page = 4096, whole = (size + page - 1) / page * page;
    total = whole + page;
    base = static_cast<char *>(
        mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + whole, page, PROT_NONE);
    start = base + whole - size;
    std::memset(base, 0xa5, whole);
  }
  ~GuardedBytes() { munmap(base, total); }
  GuardedBytes(const GuardedBytes &) = delete;
  GuardedBytes &operator=(const GuardedBytes &) = delete;

  char *data() { return start; }
  /// Returns whether the bytes before the start are unchanged.
  bool isClean() const {
    for (const char *p = base; p < start; ++p)
      if (static_cast<uint8_t>(*p) != 0xa5)
        return false;
    return true;
  }
  size_t size;

private:
  char *base, *start;
  size_t total;
};

using Buffers = std::vector<std::unique_ptr<GuardedBytes>>;

/// Distribution of the items of a command to workers.
enum class Deal { Whole, Singly, Backwards };

struct LoopHarness : testing::Test {
  LoopHarness() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    LaunchFacts::addDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static size_t align(size_t bytes) { return (bytes + 63) / 64 * 64; }

  /// Replaces every `name` in `text` by `value`; `name` must not be part of `value`.
  static std::string fill(std::string text, const std::string &name, const std::string &value) {
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), value);
    return text;
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &source) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    EXPECT_TRUE(module) << source;
    return module;
  }

  /// Returns values of any kind: mostly small numbers, some special ones. A scalar i64 is a
  /// multiple of 4, for offsets.
  Tensor randomTensor(mlir::RankedTensorType type) {
    Tensor tensor(type);
    mlir::Type element = type.getElementType();
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double value = normal(random) * (random() % 16 == 0 ? 30 : 1);
      if (specials && random() % 32 == 0) {
        const double values[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-40, -1e-40, 1.0};
        value = values[random() % 8];
      }
      if (element.isF32())
        tensor.data<float>()[i] = value;
      else if (element.isF64())
        tensor.data<double>()[i] = value;
      else if (element.isF16() || element.isBF16())
        tensor.data<uint16_t>()[i] = sixteenBits(element, value);
      else if (element.isInteger(1))
        tensor.data<uint8_t>()[i] = random() % 2;
      else
        setInteger(tensor, i);
    }
    return tensor;
  }

  uint16_t sixteenBits(mlir::Type element, double value) {
    llvm::APFloat number(value);
    bool loses;
    number.convert(llvm::cast<mlir::FloatType>(element).getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &loses);
    return number.bitcastToAPInt().getZExtValue();
  }

  void setInteger(Tensor &tensor, int64_t i) {
    bool wide = tensor.type.getElementType().isInteger(64);
    int64_t value = static_cast<int64_t>(random() % 24) - 4;
    if (specials && tensor.type.getRank() > 0 && random() % 16 == 0)
      value = random() % 2 ? (wide ? INT64_MIN : INT32_MIN) : (wide ? INT64_MAX : INT32_MAX);
    if (tensor.type.getRank() == 0 && wide)
      value = static_cast<int64_t>(random()) * 4;
    if (wide)
      tensor.data<int64_t>()[i] = value;
    else
      tensor.data<int32_t>()[i] = value;
  }

  std::unique_ptr<GuardedBytes> guarded(const Tensor &tensor) {
    auto bytes = std::make_unique<GuardedBytes>(tensor.bytes.size());
    std::memcpy(bytes->data(), tensor.bytes.data(), tensor.bytes.size());
    return bytes;
  }

  static void runCommand(const EmittedCommand &command, Kernel kernel, std::vector<void *> &buffers,
                         Deal deal) {
    auto run = [&](int64_t begin, int64_t end) {
      GuardedBytes workspace(align(command.workerBytes));
      kernel(buffers.data(), begin, end, workspace.data());
    };
    if (deal == Deal::Whole)
      return run(0, command.items);
    for (int64_t i = 0; i < command.items; ++i) {
      int64_t item = deal == Deal::Singly ? i : command.items - 1 - i;
      run(item, item + 1);
    }
    run(command.items, command.items);
  }

  static char *addressOf(const BufferSlot &slot, Buffers &inputs, Buffers &outputs,
                         GuardedBytes &shared) {
    switch (slot.kind) {
    case BufferSlot::Input:
      return inputs[slot.index]->data();
    case BufferSlot::Output:
      return outputs[slot.index]->data();
    case BufferSlot::Shared:
      return shared.data();
    case BufferSlot::Stream:
      return reinterpret_cast<char *>(const_cast<int64_t *>(&slot.index));
    }
    llvm_unreachable("all kinds are handled");
  }

  /// Runs a launch; `outputs` may hold a pointer where a result shall lie.
  static void runLaunch(const EmittedLaunch &launch, const MappedImage &image, Buffers &inputs,
                        Buffers &outputs, Deal deal) {
    GuardedBytes shared(align(launch.sharedBytes));
    for (const EmittedCommand &command : launch.commands) {
      std::vector<void *> buffers;
      for (const BufferSlot &slot : command.buffers)
        buffers.push_back(addressOf(slot, inputs, outputs, shared) + slot.offset);
      runCommand(command, image.kernel(command.kernel), buffers, deal);
    }
  }

  static bool isNan(mlir::Type element, const Tensor &tensor, int64_t i) {
    if (element.isF32())
      return std::isnan(tensor.data<float>()[i]);
    if (element.isF64())
      return std::isnan(tensor.data<double>()[i]);
    uint16_t bits = element.isF16() || element.isBF16() ? tensor.data<uint16_t>()[i] & 0x7fff : 0;
    return bits > (element.isF16() ? 0x7c00 : 0x7f80);
  }

  static std::string difference(const Tensor &got, const Tensor &expected) {
    int64_t bytes = elementBytes(got.type.getElementType());
    for (int64_t i = 0; i < got.size(); ++i) {
      if (std::memcmp(&got.bytes[i * bytes], &expected.bytes[i * bytes], bytes) == 0)
        continue;
      mlir::Type element = got.type.getElementType();
      if (isNan(element, got, i) && isNan(element, expected, i))
        continue;
      std::string text = "element " + std::to_string(i);
      if (element.isF32())
        text += ": " + std::to_string(got.data<float>()[i]) + " instead of " +
                std::to_string(expected.data<float>()[i]);
      else if (bytes >= 4)
        text +=
            ": " + std::to_string(bytes == 8 ? got.data<int64_t>()[i] : got.data<int32_t>()[i]) +
            " instead of " +
            std::to_string(bytes == 8 ? expected.data<int64_t>()[i] : expected.data<int32_t>()[i]);
      return text;
    }
    return "";
  }

  /// Compiles the function's body for a target and compares all results.
  void checkOn(const CpuTarget &target, mlir::func::FuncOp function,
               const std::vector<Tensor> &arguments, const std::vector<Tensor> &expected) {
    auto kernels = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(function.getLoc()));
    mlir::FailureOr<EmittedLaunch> launch =
        emitLaunch(function.getBody().front(), "group", *kernels, target);
    ASSERT_TRUE(succeeded(launch));
    mlir::FailureOr<Image> image = compileKernels(*kernels, target);
    ASSERT_TRUE(succeeded(image));
    commands = launch->commands.size();
    MappedImage mapped(*image);
    for (Deal deal : {Deal::Whole, Deal::Singly, Deal::Backwards}) {
      Buffers inputs, outputs;
      for (const Tensor &argument : arguments)
        inputs.push_back(guarded(argument));
      for (const Tensor &result : expected)
        outputs.push_back(std::make_unique<GuardedBytes>(result.bytes.size()));
      runLaunch(*launch, mapped, inputs, outputs, deal);
      for (auto [i, result] : llvm::enumerate(expected)) {
        Tensor got(result.type);
        std::memcpy(got.bytes.data(), outputs[i]->data(), got.bytes.size());
        EXPECT_EQ(difference(got, result), "") << "result " << i << " on " << target.name;
        EXPECT_TRUE(outputs[i]->isClean()) << "wrote before result " << i;
      }
      for (auto [i, argument] : llvm::enumerate(arguments))
        EXPECT_EQ(std::memcmp(inputs[i]->data(), argument.bytes.data(), argument.bytes.size()), 0)
            << "wrote to argument " << i;
    }
  }

  /// Memory that starts at a multiple of 64.
  static std::unique_ptr<GuardedBytes> alignedBytes(size_t size) {
    return std::make_unique<GuardedBytes>(align(size));
  }

  /// Runs a launch on the emulated GPU; with `shared`, result and argument of the pair share their
  /// place. Compares all results.
  void checkGpuRun(EmulatedGpu &gpu, const EmittedLaunch &launch,
                   const std::vector<Tensor> &arguments, const std::vector<Tensor> &expected,
                   bool backwards, std::optional<std::pair<unsigned, unsigned>> inPlace) {
    Buffers inputs, outputs;
    for (const Tensor &argument : arguments) {
      inputs.push_back(alignedBytes(argument.bytes.size()));
      std::memcpy(inputs.back()->data(), argument.bytes.data(), argument.bytes.size());
    }
    for (const Tensor &result : expected)
      outputs.push_back(alignedBytes(result.bytes.size()));
    if (inPlace)
      std::memcpy(outputs[inPlace->first]->data(), inputs[inPlace->second]->data(),
                  arguments[inPlace->second].bytes.size());
    auto shared = alignedBytes(launch.sharedBytes);
    for (const EmittedCommand &command : launch.commands) {
      std::vector<void *> buffers;
      for (const BufferSlot &slot : command.buffers) {
        bool moved = inPlace && slot.kind == BufferSlot::Input && slot.index == inPlace->second;
        buffers.push_back(
            (moved ? outputs[inPlace->first]->data() : addressOf(slot, inputs, outputs, *shared)) +
            slot.offset);
      }
      gpu.run(command, buffers, backwards);
    }
    for (auto [i, result] : llvm::enumerate(expected)) {
      Tensor got(result.type);
      std::memcpy(got.bytes.data(), outputs[i]->data(), got.bytes.size());
      EXPECT_EQ(difference(got, result), "") << "result " << i << " on the emulated GPU";
      EXPECT_TRUE(outputs[i]->isClean()) << "wrote before result " << i;
    }
  }

  /// Checks like checkOn, but with the kernels of a GPU, emulated.
  void checkOnGpu(mlir::func::FuncOp function, const std::vector<Tensor> &arguments,
                  const std::vector<Tensor> &expected) {
    mlir::Block &body = function.getBody().front();
    CudaBackend target("sm_90");
    auto kernels = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(function.getLoc()));
    mlir::FailureOr<EmittedLaunch> launch = target.emitLaunch(body, "group", *kernels);
    ASSERT_TRUE(succeeded(launch));
    // Whole blocks of threads meet at barriers, which this emulation does not have.
    if (llvm::any_of(launch->commands, [](auto &command) { return command.itemThreads > 32; }))
      return;
    if (!EmulatedGpu::canRun(*kernels))
      return;
    EmulatedGpu gpu(*kernels);
    for (bool backwards : {false, true})
      checkGpuRun(gpu, *launch, arguments, expected, backwards, std::nullopt);
    for (auto pair : target.findInPlacePairs(body))
      checkGpuRun(gpu, *launch, arguments, expected, true, pair);
  }

  /// Runs `func.func @f` of the source as one group, on every target, against the interpreter.
  void check(const std::string &source) {
    SCOPED_TRACE(source);
    ASSERT_FALSE(targets.empty()) << "no target runs here, so nothing would be compared";
    auto module = parse(source);
    ASSERT_TRUE(module);
    auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
    ASSERT_TRUE(function);
    std::vector<Tensor> arguments;
    for (mlir::Type type : function.getArgumentTypes())
      arguments.push_back(randomTensor(llvm::cast<mlir::RankedTensorType>(type)));
    auto expected = interpret(function, arguments);
    ASSERT_TRUE(succeeded(expected));
    for (const CpuTarget &target : targets)
      checkOn(target, function, arguments, *expected);
    if (withGpu)
      checkOnGpu(function, arguments, *expected);
  }

  mlir::MLIRContext context;
  std::vector<CpuTarget> targets = runnableTargets();
  std::mt19937 random{1};
  bool specials = true;
  /// Runs the kernels of an emulated GPU, too. False for tests that would take its fibers too long.
  bool withGpu = true;
  /// Number of commands of the last check.
  size_t commands = 0;
};

} // namespace reprise::test

#endif // REPRISE_TEST_UNIT_CONVERSION_CPU_NESTHARNESS_H
