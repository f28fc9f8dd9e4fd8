// reprise: the flags of reprise-compile
#ifndef REPRISE_TOOLS_COMPILE_FLAGS_H
#define REPRISE_TOOLS_COMPILE_FLAGS_H

#include "reprise/Compiler.h"
#include "llvm/Support/CommandLine.h"

namespace reprise {

namespace cl = llvm::cl;

struct Flags {
  cl::opt<std::string> model{cl::Positional, cl::desc("MODEL.mlir"), cl::Required};
  cl::opt<std::string> output{"o", cl::desc("The bundle to write"), cl::value_desc("OUT.rpb")};
  cl::opt<std::string> entry{"entry", cl::desc("The function to compile"), cl::init("train")};
  cl::list<std::string> policies{
      "policy", cl::desc("A policy, built in or a rule file (PATH.json); may be repeated")};
  cl::opt<bool> allowUnmatchedRules{"allow-unmatched-rules",
                                    cl::desc("A rule that matches nothing is a warning")};
  cl::opt<bool> ignoreCheckpoints{"ignore-checkpoints",
                                  cl::desc("Read checkpoints as plain blocks")};
  cl::opt<bool> unroll{"unroll", cl::desc("Replace loops by their iterations: the same bits")};
  cl::opt<std::string> target{
      "target", cl::desc("cpu, cpu:native, cpu:x86-64-v3, cpu:x86-64-v4 or cuda:sm_NN"),
      cl::init("cpu")};
  cl::opt<std::string> contractions{"contractions", cl::desc("exact: as on every CPU"),
                                    cl::init("exact")};
  cl::opt<unsigned> threads{
      "threads", cl::desc("Workers that the workspace is reckoned for (default: the cores)"),
      cl::init(0)};
  cl::opt<std::string> deviceFile{
      "device-file", cl::desc("Rates of the device, for the cost model (docs/device.schema.json)"),
      cl::value_desc("D.json")};
  cl::opt<std::string> profile{
      "profile", cl::desc("Seconds that reprise-run --profile-out measured, for the cost model"),
      cl::value_desc("T.json")};
  cl::opt<std::string> budget{
      "budget",
      cl::desc(
          "What arena and workspace may take: bytes, 1.5GiB, or 60% of what they take if every "
          "value is saved"),
      cl::value_desc("BYTES|N%")};
  cl::opt<double> timeLimit{
      "time-limit", cl::desc("Seconds that the search for a plan may take; it ends with its best"),
      cl::value_desc("S")};
  cl::opt<std::string> planIn{"plan-in", cl::desc("Carry out a plan that --plan-out wrote"),
                              cl::value_desc("F.json")};
  cl::opt<std::string> planOut{"plan-out", cl::desc("Write the plan: what is saved and replayed"),
                               cl::value_desc("F.json")};
  cl::opt<std::string> pareto{
      "pareto",
      cl::desc("Write the curve of memory and time, with named policies: F.html or F.json"),
      cl::value_desc("F")};
  cl::opt<bool> estimate{
      "estimate",
      cl::desc("Print what the step takes, and what lies at the peak; write no bundle")};
  cl::list<std::string> reports{
      "report", cl::desc("Write a report: F.json, F.html or F.txt; may be repeated"),
      cl::value_desc("F")};
  cl::list<std::string> explain{
      "explain", cl::desc("Tell what is done with a value, and why; may be repeated"),
      cl::value_desc("VALUE")};
  cl::opt<std::string> remarksFilter{
      "remarks-filter",
      cl::desc("Print the MLIR remarks of matching categories: checkpoint, one per value"),
      cl::value_desc("REGEX")};
  cl::opt<bool> verifyReplays{
      "verify-replays",
      cl::desc("Runs of the bundle compare every replayed value with its original")};
  cl::opt<bool> interpret{"interpret",
                          cl::desc("Run the reference interpreter instead of compiling")};
  cl::opt<int64_t> seed{"seed", cl::desc("With --interpret: the seed"), cl::init(0)};
  cl::opt<int64_t> steps{"steps", cl::desc("With --interpret: the number of steps"), cl::init(1)};
  cl::opt<std::string> inputDir{
      "input-dir", cl::desc("With --interpret: go on from the folder of an earlier run")};
  cl::opt<std::string> outputDir{"output-dir", cl::desc("With --interpret: the folder to write")};
};

/// The files that are written beside reports.
llvm::SmallVector<llvm::StringRef> singleOutputs(const Flags &flags);

/// Reads `1500000`, `1.5GiB` or `60%`; none if it is neither, or more than any machine has.
std::optional<Budget> parseBudget(llvm::StringRef text);

/// What is wrong with the flags; empty if nothing is.
std::string checkFlags(const Flags &flags);

} // namespace reprise

#endif // REPRISE_TOOLS_COMPILE_FLAGS_H
