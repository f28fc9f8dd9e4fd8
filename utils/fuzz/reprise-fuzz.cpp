// reprise: runs random training programs in all ways that must agree
#include "Child.h"
#include "Generator.h"
#include "mlir/IR/Verifier.h"
#include "reprise/InitAll.h"
#include "reprise/Support/CommandLine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace reprise::fuzz;
namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  cl::opt<uint64_t> first("seed", cl::init(0));
  cl::opt<uint64_t> count("count", cl::init(500));
  cl::opt<bool> show("print");
  cl::ParseCommandLineOptions(argc, argv);
  DialectRegistry registry;
  reprise::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::vector<std::string> unknown;
  std::vector<Known> ops = learnOps(&context, unknown);
  for (const std::string &name : unknown)
    llvm::outs() << "no example of " << name << "\n";
  int bad = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    auto make = [&] {
      std::string text;
      llvm::raw_string_ostream stream(text);
      OwningOpRef<ModuleOp> module = Generator(&context, ops, seed).run();
      module->print(stream, OpPrintingFlags().assumeVerified());
      return text;
    };
    if (show) {
      llvm::outs() << make();
      continue;
    }
    Verdict verdict = inChild([&] { return checkProgram(make(), &context, seed); });
    if (verdict.kind.empty())
      continue;
    ++bad;
    llvm::outs() << "seed " << seed << ": " << verdict.kind << ": " << verdict.details << "\n";
    llvm::outs().flush();
  }
  llvm::outs() << count - bad << " passed, " << bad << " failed\n";
  return bad != 0;
}
