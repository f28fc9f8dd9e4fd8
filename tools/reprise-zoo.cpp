// reprise: prints a model of the zoo as a complete training step
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "reprise/InitAll.h"
#include "reprise/Support/CommandLine.h"
#include "reprise/Support/File.h"
#include "reprise/Support/Guard.h"
#include "reprise/Zoo/Zoo.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace reprise;
namespace cl = llvm::cl;

namespace {

enum class Checkpoint { None, Layer };

struct Flags {
  cl::opt<std::string> model{cl::Positional, cl::desc("MODEL"), cl::Required};
  cl::opt<int64_t> layers{"layers", cl::desc("Layers; levels of a unet (default: 2, unet 3)")};
  cl::opt<int64_t> width{
      "width", cl::desc("Width of the residual stream or hidden layer, channels of the first stage "
                        "(default: 64, unet 32)")};
  cl::opt<int64_t> heads{"heads", cl::desc("Attention heads (default: max(1, width/64))")};
  cl::opt<int64_t> vocab{"vocab", cl::desc("Tokens (default: 256)")};
  cl::opt<int64_t> batch{"batch", cl::desc("Samples in a batch (default: 8)")};
  cl::opt<int64_t> seq{"seq",
                       cl::desc("Tokens in a sample; patches of a vit (default: 128, vit 64)")};
  cl::opt<int64_t> image{"image", cl::desc("Height and width of an image (default: 64)")};
  cl::opt<int64_t> classes{"classes", cl::desc("Classes of a classifier (default: 10)")};
  cl::opt<double> dropout{"dropout", cl::desc("Dropout rate (default: 0)")};
  cl::opt<zoo::Optimizer> optimizer{
      "optimizer", cl::desc("The optimizer"), cl::init(zoo::Optimizer::Sgd),
      cl::values(clEnumValN(zoo::Optimizer::Sgd, "sgd", "stochastic gradient descent"),
                 clEnumValN(zoo::Optimizer::Momentum, "momentum", "with momentum 0.9"),
                 clEnumValN(zoo::Optimizer::AdamW, "adamw", "AdamW"))};
  cl::opt<zoo::Precision> precision{
      "precision", cl::desc("The type of the operands of contractions"),
      cl::init(zoo::Precision::F32),
      cl::values(clEnumValN(zoo::Precision::F32, "f32", "as everything else"),
                 clEnumValN(zoo::Precision::BF16, "bf16", "bfloat16"),
                 clEnumValN(zoo::Precision::F16, "f16", "half, the loss scaled dynamically"))};
  cl::opt<Checkpoint> checkpoint{"checkpoint", cl::desc("A checkpoint region for"),
                                 cl::init(Checkpoint::None),
                                 cl::values(clEnumValN(Checkpoint::Layer, "layer", "each layer"),
                                            clEnumValN(Checkpoint::None, "none", "nothing"))};
  cl::opt<bool> loop{"loop", cl::desc("The layers are one loop over stacked parameters")};

  /// The defaults of the model and what is given.
  zoo::Options options() const {
    zoo::Options options = zoo::defaultOptions(model);
    auto take = [](const auto &flag, auto &option) {
      if (flag.getNumOccurrences())
        option = flag;
    };
    take(layers, options.layers);
    take(width, options.width);
    take(heads, options.heads);
    take(vocab, options.vocab);
    take(batch, options.batch);
    take(seq, options.seq);
    take(image, options.image);
    take(classes, options.classes);
    take(dropout, options.dropout);
    options.optimizer = optimizer;
    options.precision = precision;
    options.checkpointLayers = checkpoint == Checkpoint::Layer;
    options.loopLayers = loop;
    return options;
  }
};

int fail(const llvm::Twine &message, int code) {
  llvm::WithColor::error() << message << "\n";
  return code;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reprise::survivePoverty();
  // LLVM's libraries register flags of their own.
  cl::ResetCommandLineParser();
  Flags flags;
  cl::OptionCategory category("Options");
  reprise::listFlags(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Prints a model as a training step\n",
                                   &llvm::errs()))
    return 2;
  std::vector<std::string> names = zoo::modelNames();
  if (!llvm::is_contained(names, flags.model.getValue()))
    return fail("unknown model '" + flags.model + "', expected one of " + llvm::join(names, ", "),
                2);
  if (std::string wrong = zoo::checkOptions(flags.model, flags.options()); !wrong.empty())
    return fail(wrong, 2);
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = zoo::buildModel(context, flags.model, flags.options());
  if (failed(verify(*module)))
    return 1;
  OpPrintingFlags printing;
  printing.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  llvm::Error error =
      writeFile("-", [&](llvm::raw_ostream &stream) { module->print(stream, printing); });
  return error ? fail(llvm::toString(std::move(error)), 1) : 0;
}
