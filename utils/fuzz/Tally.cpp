// reprise: sums over many programs
#include "Tally.h"
#include "Ops.h"

#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace reprise::fuzz {

/// Reasons why an op never stands in a plan as a replay.
static const std::map<std::string, std::string> neverReplayed = {
    {"reprise.batch_norm", "expanded in what is differentiated"},
    {"reprise.batch_statistics", "expanded in what is differentiated"},
    {"reprise.block", "flattened before there is a plan"},
    {"reprise.checkpoint", "flattened before there is a plan"},
    {"reprise.constant", "always there"},
    {"reprise.custom_vjp", "gone when derivatives are expanded"},
    {"reprise.dot_bias", "expanded at import; only libraries of a GPU have it in a plan"},
    {"reprise.group_norm", "expanded in what is differentiated"},
    {"reprise.layer_norm", "expanded in what is differentiated"},
    {"reprise.name", "removed when labels are read"},
    {"reprise.pause", "a step stops once"},
    {"reprise.policy", "no op of the graph"},
    {"reprise.program", "no op of the graph"},
    {"reprise.return", "ends a program"},
    {"reprise.rms_norm", "expanded in what is differentiated"},
    {"reprise.rule", "no op of the graph"},
    {"reprise.value_and_grad", "expanded before there is a plan"},
    {"reprise.yield", "flattened before there is a plan"},
};

void Tally::fail(const std::string &what) {
  ++failures;
  llvm::outs() << "FAILED: " << what << "\n";
  llvm::outs().flush();
}

void Tally::count(const std::string &name, const Verdict &verdict, int64_t programs) {
  for (const std::string &op : verdict.generated)
    generated[op] += programs;
  for (const std::string &op : verdict.replayed)
    ++replayed[op];
  for (const std::string &outcome : verdict.budgets)
    ++budgets[outcome];
  if (verdict.kind.empty())
    good += programs;
  else
    fail(name + ": " + verdict.kind + ": " + verdict.details);
}

void Tally::add(const Tally &other) {
  good += other.good;
  failures += other.failures;
  for (const auto &[op, programs] : other.generated)
    generated[op] += programs;
  for (const auto &[op, programs] : other.replayed)
    replayed[op] += programs;
  for (const auto &[outcome, programs] : other.budgets)
    budgets[outcome] += programs;
}

void Tally::checkCoverage() {
  for (const OpSpec &spec : allOps()) {
    if (isBeyondPrograms(spec))
      continue;
    std::string name = spec.name.str();
    bool isReplayed = replayed.count(name), isExempt = neverReplayed.count(name);
    if (!generated.count(name))
      fail("no program held " + name);
    else if (!isReplayed && !isExempt)
      fail("no plan replayed " + name);
    else if (isReplayed && isExempt)
      fail("a plan replayed " + name +
           ", which is said to be impossible: " + neverReplayed.at(name));
    else
      ++good;
  }
  if (!budgets.count(kHeldByReplays))
    fail("no budget was held by replays");
}

std::set<std::string> Tally::notReplayed() const {
  std::set<std::string> names;
  for (const OpSpec &spec : allOps())
    if (std::string name = spec.name.str();
        !isBeyondPrograms(spec) && !replayed.count(name) && !neverReplayed.count(name))
      names.insert(name);
  return names;
}

void Tally::checkKernelCoverage() {
  for (const OpSpec &spec : allOps()) {
    bool isFlow = spec.regions != 0 || spec.isTerminator || spec.hasOwnParent;
    if (isFlow || isBeyondPrograms(spec) || spec.name == "reprise.name" ||
        spec.name == "reprise.pause")
      continue;
    if (generated.count(spec.name.str()))
      ++good;
    else
      fail("no program held " + spec.name.str());
  }
}

void Tally::printSummary() const {
  for (const OpSpec &spec : allOps()) {
    if (generated.empty())
      break; // files, not programs
    auto of = [&](const std::map<std::string, int64_t> &counts) {
      auto found = counts.find(spec.name.str());
      return found == counts.end() ? 0 : found->second;
    };
    llvm::outs() << spec.name << ": in " << of(generated) << " programs, replayed in "
                 << of(replayed) << "\n";
  }
  for (const auto &[outcome, programs] : budgets)
    llvm::outs() << "budgets, " << outcome << ": " << programs << " programs\n";
  llvm::outs() << good << " passed, " << failures << " failed\n";
}

std::string Tally::encode() const {
  std::ostringstream stream;
  stream << good << ' ' << failures;
  for (const auto *counts : {&generated, &replayed, &budgets}) {
    stream << ' ' << counts->size();
    for (const auto &[op, programs] : *counts)
      stream << ' ' << op << ' ' << programs;
  }
  return stream.str();
}

Tally Tally::decode(const std::string &text) {
  Tally tally;
  std::istringstream stream(text);
  stream >> tally.good >> tally.failures;
  for (auto *counts : {&tally.generated, &tally.replayed, &tally.budgets}) {
    size_t size = 0;
    stream >> size;
    for (std::string op; size > 0; --size) {
      stream >> op;
      stream >> (*counts)[op];
    }
  }
  return tally;
}

static std::string readAll(int descriptor) {
  std::string text;
  char buffer[4096];
  while (ssize_t size = read(descriptor, buffer, sizeof buffer)) {
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      break;
    text.append(buffer, size);
  }
  return text;
}

/// Starts one job; returns the pipe of its result, or -1.
static int startJob(unsigned job, llvm::function_ref<Tally(unsigned)> work) {
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string text = work(job).encode();
    llvm::outs().flush();
    bool good = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(good ? 0 : 1);
  }
  close(ends[1]);
  if (child > 0)
    return ends[0];
  close(ends[0]);
  return -1;
}

Tally inJobs(unsigned jobs, llvm::function_ref<Tally(unsigned)> work) {
  llvm::outs().flush();
  Tally sum;
  std::vector<int> pipes;
  for (unsigned job = 0; job < jobs; ++job)
    pipes.push_back(startJob(job, work));
  for (unsigned job = 0; job < jobs; ++job) {
    std::string text = pipes[job] < 0 ? "" : readAll(pipes[job]);
    if (pipes[job] >= 0)
      close(pipes[job]);
    if (text.empty())
      sum.fail("job " + std::to_string(job) + " did not end well");
    else
      sum.add(Tally::decode(text));
  }
  while (wait(nullptr) > 0) {
  }
  return sum;
}

} // namespace reprise::fuzz
