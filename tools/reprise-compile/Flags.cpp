// reprise: what is wrong with the flags of reprise-compile
#include "Flags.h"

#include "reprise/Runtime/File.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace reprise;

SmallVector<StringRef> reprise::singleOutputs(const Flags &flags) {
  SmallVector<StringRef> outputs;
  for (const cl::opt<std::string> *flag : {&flags.output, &flags.planOut, &flags.pareto})
    if (!flag->empty())
      outputs.push_back(*flag);
  return outputs;
}

/// No file is written twice, or over the model.
static std::string checkFiles(const Flags &flags) {
  std::vector<std::string> written;
  SmallVector<std::string> outputs(flags.reports.begin(), flags.reports.end());
  for (StringRef path : singleOutputs(flags))
    outputs.push_back(path.str());
  for (const std::string &path : outputs) {
    auto same = [&](const std::string &other) { return runtime::isSameFile(path, other); };
    if (llvm::any_of(written, same))
      return "'" + path + "' is written twice";
    if (same(flags.model) || same(flags.deviceFile) || same(flags.profile) || same(flags.planIn))
      return "'" + path + "' is read and written";
    written.push_back(path);
  }
  return "";
}

std::optional<Budget> reprise::parseBudget(StringRef text) {
  static constexpr std::pair<StringLiteral, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"B", 1},        {"", 1}};
  bool isShare = text.consume_back("%");
  double scale = 1;
  for (auto [unit, bytes] : units)
    if (!isShare && text.consume_back(unit)) {
      scale = bytes;
      break;
    }
  double number = 0;
  bool isNumber = !text.empty() && llvm::isDigit(text.front()) && !text.getAsDouble(number);
  // What a share is of is known later: it must stay a number of bytes, too.
  if (!isNumber || !(number * scale < (isShare ? 1e4 : 0x1p62)))
    return std::nullopt;
  Budget budget;
  if (isShare)
    budget.share = number / 100;
  else
    budget.bytes = static_cast<int64_t>(number * scale);
  return budget;
}

/// What is wrong with the flags of --interpret, or with those of a run.
static std::string checkInterpret(const Flags &flags) {
  bool hasRunFlags = flags.seed.getNumOccurrences() || flags.steps.getNumOccurrences() ||
                     !flags.inputDir.empty() || !flags.outputDir.empty();
  if (!flags.interpret)
    return hasRunFlags ? "--seed, --steps, --input-dir and --output-dir go with --interpret" : "";
  if (flags.outputDir.empty())
    return "--interpret needs --output-dir";
  if (flags.verifyReplays)
    return "--verify-replays goes with -o: the bundle's runs compare";
  if (!flags.output.empty() || !flags.reports.empty() || !flags.explain.empty())
    return "-o, --report and --explain do not go with --interpret";
  if (!flags.deviceFile.empty() || !flags.profile.empty())
    return "--device-file and --profile do not go with --interpret";
  if (!flags.planIn.empty() || !flags.planOut.empty() || !flags.budget.empty() ||
      !flags.pareto.empty() || flags.estimate || flags.timeLimit.getNumOccurrences())
    return "budgets and plans do not go with --interpret, which gives the same bits under any";
  return flags.steps < 1 ? "expected --steps of at least 1" : "";
}

/// What is wrong with the flags of budgets and plans.
static std::string checkBudgets(const Flags &flags) {
  std::pair<StringRef, const cl::opt<std::string> *> texts[] = {{"--budget", &flags.budget},
                                                                {"--plan-in", &flags.planIn},
                                                                {"--plan-out", &flags.planOut},
                                                                {"--pareto", &flags.pareto}};
  for (auto [name, flag] : texts)
    if (flag->getNumOccurrences() && flag->empty())
      return (name + " is empty").str();
  if (flags.estimate && !flags.output.empty())
    return "--estimate writes no bundle: -o does not go with it";
  if (!flags.pareto.empty() && !StringRef(flags.pareto).ends_with(".json") &&
      !StringRef(flags.pareto).ends_with(".html"))
    return "expected --pareto=F.html or F.json, got '" + flags.pareto + "'";
  if (!flags.budget.empty() && !parseBudget(flags.budget))
    return "expected --budget as bytes, such as 1.5GiB, or as a share, such as 60%, got '" +
           flags.budget + "'";
  if (flags.timeLimit.getNumOccurrences() && !(flags.timeLimit >= 0))
    return "expected --time-limit of at least 0 seconds";
  return "";
}

/// Whether something is asked for that only a plan can tell, or an estimate of one.
static bool needsPlan(const Flags &flags) {
  return !flags.budget.empty() || !flags.planIn.empty() || !flags.planOut.empty() ||
         !flags.reports.empty() || !flags.explain.empty();
}

std::string reprise::checkFlags(const Flags &flags) {
  for (auto check : {checkInterpret, checkBudgets})
    if (std::string wrong = check(flags); !wrong.empty())
      return wrong;
  bool isCurveAlone = !flags.pareto.empty() && !needsPlan(flags);
  if (!flags.interpret && !flags.estimate && !isCurveAlone && flags.output.empty())
    return "expected -o OUT.rpb";
  if (std::string wrong;
      !flags.remarksFilter.empty() && !llvm::Regex(flags.remarksFilter).isValid(wrong))
    return "--remarks-filter: " + wrong;
  if (flags.contractions != "exact")
    return "unknown contractions '" + flags.contractions + "', expected exact";
  for (StringRef report : flags.reports)
    if (!report.ends_with(".json") && !report.ends_with(".html") && !report.ends_with(".txt"))
      return ("expected a report named *.json, *.html or *.txt, got '" + report + "'").str();
  if (flags.threads.getNumOccurrences() && (flags.threads < 1 || flags.threads > 4096))
    return "expected --threads from 1 to 4096";
  return flags.interpret ? "" : checkFiles(flags);
}
