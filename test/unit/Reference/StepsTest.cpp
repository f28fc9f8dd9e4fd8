// reprise: training steps in the interpreter: initial values, inputs, state, folders, errors
#include "reprise/Reference/Steps.h"
#include "Compare.h"
#include "common/Philox.h"
#include "reprise/Reference/Initial.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

/// Program of w' = (w + x)·0.5 with dropout, in the form after the random phase.
const char *training = R"(
func.func @train(
    %x: tensor<3xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.uniform<0.0, 1.0>},
    %w: tensor<3xf32> {reprise.role = "parameter", reprise.name = "w/a", reprise.init = #reprise.normal<0.0, 1.0>},
    %seed: tensor<i64> {reprise.role = "seed", reprise.name = "seed"},
    %offset: tensor<i64> {reprise.role = "offset", reprise.name = "offset"})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<3xf32> {reprise.name = "w/a"},
        tensor<i64> {reprise.name = "offset"}) {
  %sum = reprise.add %w, %x : tensor<3xf32>
  %half = reprise.dropout %sum seed %seed offset %offset {rate = 0.5 : f64, stream = 0 : i64} : tensor<3xf32>
  %next = reprise.sub %w, %half : tensor<3xf32>
  %loss = reprise.mean %next dims [0] : (tensor<3xf32>) -> tensor<f32>
  %four = reprise.constant dense<4> : tensor<i64>
  %after = reprise.add %offset, %four : tensor<i64>
  return %loss, %next, %after : tensor<f32>, tensor<3xf32>, tensor<i64>
})";

struct StepsTest : InterpreterTest {
  StepsTest() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("reprise-steps", folder)); }
  ~StepsTest() override { llvm::sys::fs::remove_directories(folder); }

  FailureOr<StepsReport> steps(const char *text, const StepsOptions &options) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module)) << error;
    problem.clear();
    return interpretSteps(*module, options, problem);
  }
  std::string file(const std::string &name) { return (folder + "/" + name).str(); }
  std::string contents(const std::string &name) {
    auto buffer = llvm::MemoryBuffer::getFile(file(name));
    return buffer ? (*buffer)->getBuffer().str() : "no file " + name;
  }
  std::string write(const std::string &name, std::vector<int64_t> shape,
                    std::vector<float> values) {
    runtime::Error failed =
        runtime::writeNpy(file(name), {name, runtime::DType::F32, shape, values.data()});
    EXPECT_FALSE(bool(failed));
    return file(name);
  }
  /// The elements of an array of floats in a run's folder.
  std::vector<float> array(const std::string &name) {
    auto open = runtime::openNpy(file(name), runtime::DType::F32);
    if (!open) {
      ADD_FAILURE() << open.message();
      return {};
    }
    int64_t n = 1;
    for (int64_t dim : open->shape())
      n *= dim;
    std::vector<float> values(n);
    EXPECT_FALSE(bool(open->read(values.data(), 0, n * 4)));
    return values;
  }
  void expectProblem(const char *text, const StepsOptions &options, const std::string &expected) {
    EXPECT_TRUE(failed(steps(text, options)));
    EXPECT_EQ(problem, expected);
  }

  llvm::SmallString<128> folder;
  std::string problem;
};

TEST_F(StepsTest, writesTheFolderOfARun) {
  StepsOptions options;
  options.seed = 7;
  options.outputDir = file("out");
  auto report = steps(training, options);
  ASSERT_TRUE(succeeded(report)) << problem << error;
  EXPECT_EQ(contents("out/run.json"),
            R"({"seed": 7, "next_offset": 4, "next_step": 1, "entry": "train",
 "arguments": [
  {"name": "x", "role": "input", "type": "f32", "shape": [3]},
  {"name": "w/a", "role": "parameter", "type": "f32", "shape": [3]}],
 "results": [
  {"name": "loss", "type": "f32", "shape": []},
  {"name": "w/a", "type": "f32", "shape": [3]}]}
)");
  Attribute uniform = module->lookupSymbol<func::FuncOp>("train").getArgAttr(0, "reprise.init");
  Attribute normal = module->lookupSymbol<func::FuncOp>("train").getArgAttr(1, "reprise.init");
  Tensor x = initialValue(type({3}, f32()), "x", uniform, 7, 0, true);
  Tensor w = initialValue(type({3}, f32()), "w/a", normal, 7, 0, false);
  std::vector<float> expected;
  for (int64_t i = 0; i < 3; ++i) {
    float kept =
        philoxWord(7, 0, 0, i) < 0x80000000u ? 0 : 2 * (w.data<float>()[i] + x.data<float>()[i]);
    expected.push_back(w.data<float>()[i] - kept);
  }
  EXPECT_EQ(array("out/w.a.npy"), expected);
  EXPECT_EQ(report->loss, (std::vector<double>{array("out/loss.npy")[0]}));
  EXPECT_EQ(contents("out/offset.npy"), "no file out/offset.npy");
}

TEST_F(StepsTest, threeAndThreeStepsAreSix) {
  StepsOptions six, three, more;
  six.seed = three.seed = 5;
  six.offset = three.offset = 8;
  six.steps = 6;
  three.steps = more.steps = 3;
  six.outputDir = file("six");
  three.outputDir = more.inputDir = file("three");
  more.outputDir = file("more");
  auto all = steps(training, six), first = steps(training, three), second = steps(training, more);
  ASSERT_TRUE(succeeded(all) && succeeded(first) && succeeded(second)) << problem << error;
  EXPECT_EQ(all->hash, second->hash);
  EXPECT_NE(all->hash, first->hash);
  EXPECT_EQ(all->loss.size(), 6u);
  for (const char *name : {"w.a.npy", "loss.npy", "run.json"})
    EXPECT_EQ(contents(std::string("six/") + name), contents(std::string("more/") + name));
}

TEST_F(StepsTest, takesOneRowPerAbsoluteStep) {
  StepsOptions options;
  options.steps = 2;
  options.inputs = {{"w/a", write("w.npy", {3}, {1, 1, 1})},
                    {"x", write("x.npy", {2, 3}, {1, 2, 3, 40, 50, 60})}};
  options.outputDir = file("out");
  ASSERT_TRUE(succeeded(steps(training, options))) << problem << error;
  std::vector<float> w = {1, 1, 1}, x = {1, 2, 3, 40, 50, 60};
  for (int64_t step = 0; step < 2; ++step)
    for (int64_t i = 0; i < 3; ++i)
      w[i] -= philoxWord(0, 0, step * 4, i) < 0x80000000u ? 0 : 2 * (w[i] + x[step * 3 + i]);
  EXPECT_EQ(array("out/w.a.npy"), w);
  options.steps = 3;
  expectProblem(training, options,
                "cannot read '" + file("x.npy") + "': holds 2 steps, the run needs 3");
}

TEST_F(StepsTest, carriesAnInputThatAResultReplaces) {
  const char *counter = R"(
    func.func @train(%n: tensor<f32> {reprise.role = "input", reprise.name = "n", reprise.init = #reprise.fill<5.0>})
        -> (tensor<f32> {reprise.name = "n"}) {
      %one = reprise.constant dense<1.0> : tensor<f32>
      %next = reprise.add %n, %one : tensor<f32>
      return %next : tensor<f32>
    })";
  StepsOptions options;
  options.steps = 4;
  options.outputDir = file("out");
  ASSERT_TRUE(succeeded(steps(counter, options))) << problem << error;
  EXPECT_EQ(array("out/n.npy"), (std::vector<float>{9}));
  options.inputs = {{"n", write("n.npy", {4}, {1, 2, 3, 40})}};
  ASSERT_TRUE(succeeded(steps(counter, options))) << problem << error;
  EXPECT_EQ(array("out/n.npy"), (std::vector<float>{41})) << "one value per step outranks it";
}

TEST_F(StepsTest, refusesWhatItShould) {
  StepsOptions options;
  options.inputs = {{"nobody", file("x.npy")}};
  expectProblem(training, options,
                "there is no argument 'nobody' to take from '" + file("x.npy") + "'");
  options.inputs = {{"seed", file("x.npy")}};
  expectProblem(training, options,
                "there is no argument 'seed' to take from '" + file("x.npy") + "'");
  options.inputs = {{"w/a", write("x.npy", {2, 3}, {1, 2, 3, 4, 5, 6})}};
  expectProblem(training, options,
                "cannot read '" + file("x.npy") + "': shape [2, 3], expected [3] for 'w/a'");
  options.inputs.clear();
  options.offset = 6;
  expectProblem(training, options, "the offset 6 is no multiple of 4");
  options.offset.reset();
  options.inputDir = file("none");
  expectProblem(training, options,
                "cannot read '" + file("none") +
                    "': expected a folder, a .safetensors file or its .index.json");
  options.inputDir = file("");
  expectProblem(R"(func.func @f(%x: tensor<f32> {reprise.role = "input", reprise.name = "a/b"},
                                %y: tensor<f32> {reprise.role = "input", reprise.name = "a.b"}) {
                     return
                   })",
                options,
                "cannot read '" + file("") +
                    "': arguments 'a/b' and 'a.b' have the same file name 'a.b.npy'");
  expectProblem("func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }", {},
                "argument 0 of 'f' has no name or no role; run the import phase first");
  expectProblem(R"(func.func @f(%x: tensor<f32> {reprise.role = "input", reprise.name = "x"})
                       -> (tensor<f32> {reprise.name = "y"}) { return %x : tensor<f32> })",
                {}, "input 'x' has no initializer and was given no value");
  expectProblem("func.func private @f()", {},
                "expected one function in the module; run the import phase first");
}

TEST_F(StepsTest, leavesErrorsOfOpsToDiagnostics) {
  expectProblem(
      R"(func.func @f(%x: tensor<f32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.fill<0.0>})
                       -> (tensor<f32> {reprise.name = "y"}) {
                     %y = reprise.dropout %x {rate = 0.5 : f64} : tensor<f32>
                     return %y : tensor<f32>
                   })",
      {}, "");
  EXPECT_EQ(
      error,
      "'reprise.dropout' op cannot be interpreted without a seed; run the random phase first");
}

} // namespace
