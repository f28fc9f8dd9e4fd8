// reprise: prints a model of the zoo as a complete training step
#include "CommandLine/CommandLine.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "reprise/InitAll.h"
#include "reprise/Support/Diagnostics.h"
#include "reprise/Support/File.h"
#include "reprise/Support/Guard.h"
#include "reprise/Support/Wording.h"
#include "reprise/Zoo/Zoo.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace reprise;

namespace {

enum class Checkpoint { None, Layer };

struct Flags : cli::Tool {
  Flags()
      : Tool("reprise-zoo", "prints a known model as a complete training step",
             "MODEL [options] > MODEL.mlir") {
    add({"MODEL",
         {{"bert, gpt2, llama, moe", "transformers"},
          {"lstm", "a language model of LSTM layers"},
          {"mlp", "relu layers"},
          {"vit", "a vision transformer"},
          {"resnet18, resnet50, unet", "convolutional networks"}}});
    add({"Entries (--entry of reprise-compile)",
         {{"train", "the loss and the next values of parameters and state"},
          {"grad", "the loss and gradient/NAME for each parameter"},
          {"hvp", "a Hessian-vector product: inputs direction/NAME, results hvp/NAME"},
          {"forward", "inference: no dropout, running statistics"}}});
    addExample("reprise-zoo gpt2 --layers=12 --width=64 --dropout=0.1 > gpt2.mlir",
               "A small GPT-2.");
    addExample("reprise-zoo resnet18 --image=32 --optimizer=momentum | reprise-compile - -o r.rpb",
               "A ResNet, straight into the compiler.");
  }

  cli::Text model{*this, "MODEL", "", "The model; see below"};

  cli::Group sizes{*this, "Sizes"};
  cli::Number<int64_t> layers{*this, "--layers", "N",
                              "Number of layers; of a unet, number of levels (2, unet 3)"};
  cli::Number<int64_t> width{*this, "--width", "N",
                             "Width of the residual stream or hidden layer, channels of the first "
                             "stage (64, unet 32)"};
  cli::Number<int64_t> heads{*this, "--heads", "N",
                             "Number of attention heads (width/64, at least 1)"};
  cli::Number<int64_t> vocab{*this, "--vocab", "N", "Number of tokens in the vocabulary (256)"};
  cli::Number<int64_t> batch{*this, "--batch", "N", "Number of samples in a batch (8)"};
  cli::Number<int64_t> seq{
      *this, "--seq", "N",
      "Number of tokens in a sample; of a vit, number of patches (128, vit 64)"};
  cli::Number<int64_t> image{*this, "--image", "N", "Height and width of an image in pixels (64)"};
  cli::Number<int64_t> classes{*this, "--classes", "N", "Number of classes of a classifier (10)"};

  cli::Group training{*this, "Training"};
  cli::Number<double> dropout{*this, "--dropout", "P", "Dropout rate (0)"};
  cli::Number<double> clipNorm{
      *this, "--clip-norm", "N",
      "Scale the gradients so that their common norm is at most N (no limit)"};
  cli::Choice<zoo::Optimizer> optimizer{*this,
                                        "--optimizer",
                                        "sgd|momentum|adamw",
                                        "Optimizer of the step; momentum has the factor 0.9 (sgd)",
                                        {{"sgd", zoo::Optimizer::Sgd},
                                         {"momentum", zoo::Optimizer::Momentum},
                                         {"adamw", zoo::Optimizer::AdamW}}};
  cli::Choice<zoo::Precision> precision{
      *this,
      "--precision",
      "f32|bf16|f16",
      "The type of the operands of contractions; with f16 the "
      "loss is scaled dynamically (f32)",
      {{"f32", zoo::Precision::F32}, {"bf16", zoo::Precision::BF16}, {"f16", zoo::Precision::F16}}};

  cli::Switch defersStatistics{*this, "--deferred-statistics",
                               "With micro-batches: batch norms update their running statistics "
                               "once per step, from the whole batch"};

  cli::Switch routesSamples{*this, "--route-samples",
                            "Give each sample of moe its own capacity at every expert, so that "
                            "micro-batches can cut the batch"};

  cli::Group form{*this, "Form"};
  cli::Choice<Checkpoint> checkpoint{*this,
                                     "--checkpoint",
                                     "layer|none",
                                     "Put a checkpoint region around each layer (none)",
                                     {{"none", Checkpoint::None}, {"layer", Checkpoint::Layer}}};
  cli::Switch loop{*this, "--loop", "Write the layers as one loop over stacked parameters"};

  /// Returns the defaults of the model with the given options.
  zoo::Options options() const {
    zoo::Options options = zoo::defaultOptions(model.get());
    auto take = [](const auto &flag, auto &option) {
      if (flag.isGiven())
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
    take(clipNorm, options.clipNorm);
    options.optimizer = optimizer;
    options.precision = precision;
    options.routesSamples = routesSamples;
    options.defersStatistics = defersStatistics;
    options.checkpointLayers = checkpoint == Checkpoint::Layer;
    options.loopLayers = loop;
    return options;
  }
};

} // namespace

int main(int argc, char **argv) {
  setToolName("reprise-zoo");
  llvm::InitLLVM init(argc, argv);
  reprise::survivePoverty();
  Flags flags;
  if (std::optional<int> code = flags.parse(argc, argv))
    return *code;
  std::vector<std::string> names = zoo::modelNames();
  if (!llvm::is_contained(names, flags.model.get()))
    return flags.refuse("unknown model '" + flags.model.get() + "'" +
                        suggest(flags.model.get(), names));
  if (std::string wrong = zoo::checkOptions(flags.model.get(), flags.options()); !wrong.empty())
    return flags.refuse(wrong);
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = zoo::buildModel(context, flags.model.get(), flags.options());
  if (failed(verify(*module)))
    return 1;
  OpPrintingFlags printing;
  printing.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  llvm::Error error =
      writeFile("-", [&](llvm::raw_ostream &stream) { module->print(stream, printing); });
  if (!error)
    return 0;
  printError(llvm::toString(std::move(error)));
  return 1;
}
