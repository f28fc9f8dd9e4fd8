// reprise: the flags of reprise-compile
#ifndef REPRISE_TOOLS_COMPILE_FLAGS_H
#define REPRISE_TOOLS_COMPILE_FLAGS_H

#include "../CommandLine/CommandLine.h"
#include "reprise/Compiler/OptionTexts.h"
#include "reprise/Conversion/Targets.h"
#include "reprise/Planning/Pipeline/Schedule.h"

namespace reprise {

/// Values to complete: the names of rules and auto; policies without arguments and plugin:.
std::vector<std::string> listSchedules();
std::vector<std::string> listPolicies();
/// Returns "2 for zb-v, " and so on for every rule that needs several stages per device.
std::string describeChunks();

struct Flags : cli::Tool {
  Flags();

  cli::Text model{*this, "MODEL.mlir", "", "The model, as text or bytecode; - is standard input"};

  cli::Group outputs{*this, "Output"};
  cli::Text output{*this, "-o", "OUT.rpb", "Write the bundle, which reprise-run runs"};
  cli::Texts reports{*this, "--report", "F.json|F.html|F.txt",
                     "Write a report: what is saved and replayed, and where the bytes are; "
                     "repeated"};
  cli::Texts explain{*this, "--explain", "VALUE",
                     "Print what is done with a value, and why; repeated"};
  cli::Switch estimate{*this, "--estimate",
                       "Print the memory of the step and what is live at its peak; no bundle"};
  cli::Text remarksFilter{*this, "--remarks-filter", "REGEX",
                          "Print the MLIR remarks of these categories: checkpoint, one per value"};

  cli::Group choices{*this, "What to compile"};
  cli::Text entry{*this, "--entry", "F", "The function to compile (train)", "train"};
  cli::Texts targets{*this, "--target", "cpu[:CPU]|cuda:sm_NN[+sm_NN][:cubin]",
                     "The device; CPU is " + cli::joinChoices(getCpuNames(), " or ") +
                         " (cpu); cubin puts machine code beside PTX, by ptxas; repeated: that of "
                         "each device program",
                     getTargetNames()};
  cli::Number<unsigned> threads{*this,
                                "--threads",
                                "T",
                                "Workers that a run may use: each has a workspace of its own "
                                "(the cores)",
                                0,
                                {1, 4096}};
  cli::Number<int64_t> microbatches{*this,
                                    "--microbatches",
                                    "M",
                                    "Run the step on M parts of the batch, one after the other: a "
                                    "part's activations take the memory, and sums over the batch "
                                    "add up (1)",
                                    1,
                                    {1}};
  cli::Text stages{*this, "--stages", "N|SCOPE,...",
                   "Cut the step into N stages of equal time, one device each, or at the first ops "
                   "of these scopes (1)",
                   "1"};
  cli::Text schedule{
      *this,
      "--schedule",
      "NAME|FILE",
      "The order of the stages' passes over the micro-batches: " +
          cli::joinChoices(pipeline::getRuleNames(), " or ") +
          ", auto for the fastest of them within memory, or a file with what each device runs (" +
          pipeline::kUsualRule + "; " + pipeline::kRuleOfAnySweeps + " for gradients of gradients)",
      "",
      listSchedules()};
  cli::Number<int64_t> chunks{*this, "--chunks",
                              "V",   "Stages of each device: " + describeChunks() + "1 for others",
                              1,     {1, 64}};
  cli::Text checkpoint{*this,
                       "--checkpoint",
                       "MODE",
                       "Stages replay their passes over all micro-batches (always), over all but "
                       "the last one (except-last), or none (never)",
                       "",
                       {"always", "except-last", "never"}};
  cli::Switch unroll{*this, "--unroll", "Replace loops by their iterations"};
  cli::Text contractions{*this,
                         "--contractions",
                         "exact|tf32|library",
                         "exact: contractions and attention have the bits of the CPU in all types; "
                         "tf32: GPUs round f32 operands of contractions and convolutions to TF32; "
                         "library: GPUs compute contractions of 16-bit types by cuBLASLt, and "
                         "convolutions by cuDNN "
                         "(f32 is exact, GPUs take tensor cores for 16-bit types)",
                         "",
                         {"exact", "tf32", "library"}};

  cli::Group policyGroup{*this, "Policies"};
  cli::Texts policies{*this, "--policy", "P",
                      "What to save and what to recompute; see below; repeated: among preferences "
                      "the first policy wins",
                      listPolicies()};
  cli::Switch allowUnmatchedRules{*this, "--allow-unmatched-rules",
                                  "A rule that matches nothing is a warning, not an error"};
  cli::Switch ignoreCheckpoints{*this, "--ignore-checkpoints",
                                "Read checkpoints of the model as plain blocks"};

  cli::Group plans{*this, "Budgets and plans"};
  cli::Text budget{*this, "--budget", "BYTES|N%",
                   "Find the cheapest plan whose arena and workspace fit: an integer of bytes, a "
                   "number with a unit (1.5GiB, 800MB), or a share of what the step takes if every "
                   "value is saved (60%)"};
  cli::Number<double> timeLimit{*this,
                                "--time-limit",
                                "S",
                                "End the search for a plan after S seconds, with the best one so "
                                "far",
                                0,
                                {0}};
  cli::Text planOut{*this, "--plan-out", "F.json", "Write the plan: what is saved and replayed"};
  cli::Text planIn{*this, "--plan-in", "F.json", "Apply a plan that --plan-out wrote"};
  cli::Text pareto{*this, "--pareto", "F.html|F.json",
                   "Write the curve of memory and time, with the built-in policies on it"};

  cli::Group costs{*this, "Cost model"};
  cli::Texts deviceFiles{
      *this, "--device-file", "D.json",
      "Take rates and memory of the device from a file "
      "(docs/reference/schemas/device.schema.json); repeated: those of each device"};
  cli::Text profile{*this, "--profile", "T.json",
                    "Take measured seconds from a file of reprise-run --profile-out"};

  cli::Group checks{*this, "Checks"};
  cli::Switch verifyReplays{*this, "--verify-replays",
                            "Runs of the bundle compare every replayed value with its original, "
                            "to the bit"};
  cli::Switch interpret{*this, "--interpret",
                        "Run steps in the reference interpreter instead of compiling"};
  cli::Number<int64_t> seed{*this, "--seed", "S", "With --interpret: the seed (0)", 0};
  cli::Number<int64_t> steps{*this, "--steps", "N", "With --interpret: the number of steps (1)",
                             1,     {1}};
  cli::Text inputDir{*this, "--input-dir", "DIR",
                     "With --interpret: go on from the folder of an earlier run"};
  cli::Text outputDir{*this, "--output-dir", "DIR",
                      "With --interpret: write the results of the last step and run.json"};
};

/// Returns the texts of the flags of stages.
StageTexts stageTexts(const Flags &flags);

/// Returns the given targets, with --contractions for GPUs.
std::vector<std::string> listTargets(const Flags &flags);

/// Returns the target of the first device program, or of all programs.
std::string firstTarget(const Flags &flags);

/// Returns the files that are written in addition to reports.
llvm::SmallVector<llvm::StringRef> singleOutputs(const Flags &flags);

/// Returns the fault of the flags; empty if they are valid.
std::string checkFlags(const Flags &flags);

} // namespace reprise

#endif // REPRISE_TOOLS_COMPILE_FLAGS_H
