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
                     "Write a report of saved values, replays and bytes per buffer; may be "
                     "repeated (no report)"};
  cli::Texts explain{*this, "--explain", "VALUE",
                     "Print the decision about a value and its reason; may be repeated"};
  cli::Switch estimate{*this, "--estimate",
                       "Print the bytes of the step and the buffers that are live at its peak; "
                       "write no bundle"};
  cli::Text remarksFilter{*this, "--remarks-filter", "REGEX",
                          "Print the MLIR remarks whose category matches; category checkpoint has "
                          "one remark per value (none)"};

  cli::Group choices{*this, "What to compile"};
  cli::Text entry{*this, "--entry", "F", "The function to compile (train)", "train"};
  cli::Texts targets{*this, "--target", "cpu[:CPU]|cuda:sm_NN[+sm_NN][:cubin]",
                     "Compile for this device; CPU is " + cli::joinChoices(getCpuNames(), " or ") +
                         "; :cubin adds machine code that ptxas makes to the PTX; repeated: one "
                         "target for each device program (cpu)",
                     getTargetNames()};
  cli::Number<unsigned> threads{*this,
                                "--threads",
                                "T",
                                "Number of workers that a run may use; each worker needs its own "
                                "workspace (the number of cores)",
                                0,
                                {1, 4096}};
  cli::Number<int64_t> microbatches{*this,
                                    "--microbatches",
                                    "M",
                                    "Run the step on M parts of the batch, one after the other; "
                                    "memory holds the activations of one part, and sums over the "
                                    "batch are added up (1)",
                                    1,
                                    {1}};
  cli::Number<int64_t> lanes{*this,
                             "--lanes",
                             "G",
                             "Form G lanes of consecutive micro-batches: a sum over the batch is a "
                             "chain in each lane, and the sums of lanes meet in a tree; G divides "
                             "M (1)",
                             1,
                             {1}};
  cli::Text stages{*this, "--stages", "N|SCOPE,...",
                   "Cut the step into N stages of equal time, one per device, or begin stages at "
                   "the first ops of these scopes (1)",
                   "1"};
  cli::Text mesh{*this,
                 "--mesh",
                 "data=R,model=P,auto",
                 "Make R replicas of all devices, which share the micro-batches, parameters and "
                 "states; R divides the lanes into blocks of 2^k lanes (data=1); or cut the model "
                 "into P parts, one per device, where P divides the model lanes (model=1); auto: "
                 "print the fastest meshes of --devices and their flags, and write no bundle",
                 "",
                 {"auto"}};
  cli::Number<int64_t> devices{
      *this, "--devices", "N", "With --mesh=auto: the number of devices", 0, {1, kMostDevices}};
  cli::Switch unbuilt{*this, "--unbuilt",
                      "With --mesh=auto: list meshes that the compiler does not build yet"};
  cli::Text gathers{
      *this,
      "--gathers",
      "HOW",
      "Keep what replicas or parts of a model gather until its last reader (saved), or "
      "gather it again for each pass (replayed) (replicas: as the plan says; "
      "parts: replayed)",
      "",
      listGathers()};
  cli::Number<int64_t> modelLanes{*this,
                                  "--model-lanes",
                                  "T",
                                  "Form T lanes of the terms of contractions that --shards cuts: a "
                                  "sum is a chain in each lane, and the sums of lanes meet in a "
                                  "tree, so that 1, 2, 4, … T parts of the model have equal bits "
                                  "(1)",
                                  1,
                                  {1}};
  cli::Text shards{*this, "--shards", "RULES.json",
                   "Cut the arguments that these rules name along the model axis", ""};
  cli::Text schedule{
      *this,
      "--schedule",
      "NAME|FILE",
      "Order the passes of stages over micro-batches by a rule (" +
          cli::joinChoices(pipeline::getRuleNames()) +
          "), by the fastest rule within memory (auto), or by a file that lists the passes of each "
          "device (" +
          pipeline::kUsualRule + "; " + pipeline::kRuleOfAnySweeps + " for gradients of gradients)",
      "",
      listSchedules()};
  cli::Number<int64_t> chunks{*this,
                              "--chunks",
                              "V",
                              "Number of stages per device: " + describeChunks() +
                                  "1 for other schedules (the least of the schedule)",
                              1,
                              {1, 64}};
  cli::Text checkpoint{*this,
                       "--checkpoint",
                       "MODE",
                       "Replay the forward passes of stages for all micro-batches (always), for "
                       "all but the last (except-last), or for none (never) (as labels say)",
                       "",
                       listCheckpointModes()};
  cli::Switch unroll{*this, "--unroll", "Replace loops by their iterations"};
  cli::Text contractions{*this,
                         "--contractions",
                         "exact|tf32|library",
                         "exact: contractions and attention have the bits of the CPU in all types; "
                         "tf32: GPUs round f32 operands of contractions and convolutions to TF32; "
                         "library: GPUs compute contractions of 16-bit types with cuBLASLt, and "
                         "convolutions with cuDNN (f32 is exact; 16-bit types use tensor cores)",
                         "",
                         listContractions()};

  cli::Group policyGroup{*this, "Policies"};
  cli::Texts policies{*this, "--policy", "P",
                      "Label values to save or recompute, see below; repeated: if preferences "
                      "differ, the first policy wins (save what is fastest)",
                      listPolicies()};
  cli::Switch allowUnmatchedRules{*this, "--allow-unmatched-rules",
                                  "Warn about a rule that matches no op, instead of an error"};
  cli::Switch ignoreCheckpoints{*this, "--ignore-checkpoints",
                                "Treat checkpoints of the model as plain blocks without labels"};

  cli::Group plans{*this, "Budgets and plans"};
  cli::Text budget{*this, "--budget", "BYTES|N%",
                   "Find the cheapest plan whose arena and workspace fit in bytes (1500000), in a "
                   "number with a unit (1.5GiB, 800MB), or in a share of the bytes of the step "
                   "that saves every value (60%); no budget if not given"};
  cli::Number<double> timeLimit{*this,
                                "--time-limit",
                                "S",
                                "End the search after S seconds with the best plan so far (no "
                                "limit)",
                                0,
                                {0}};
  cli::Text planOut{*this, "--plan-out", "F.json", "Write the plan: saved and replayed values"};
  cli::Text planIn{*this, "--plan-in", "F.json", "Apply a plan that --plan-out wrote"};
  cli::Text pareto{*this, "--pareto", "F.html|F.json",
                   "Write a curve of plans, bytes against seconds, with the built-in policies"};

  cli::Group costs{*this, "Cost model"};
  cli::Texts deviceFiles{
      *this, "--device-file", "D.json",
      "Read rates and memory of the device from a file "
      "(docs/reference/schemas/device.schema.json); repeated: one file for each device (built-in "
      "rates of the target)"};
  cli::Text profile{*this, "--profile", "T.json",
                    "Use measured seconds from a file of reprise-run --profile-out (none)"};

  cli::Group checks{*this, "Checks"};
  cli::Switch verifyReplays{*this, "--verify-replays",
                            "Make a bundle whose runs compare every replayed value with its "
                            "original, to the bit"};
  cli::Switch interpret{*this, "--interpret",
                        "Run steps in the reference interpreter instead of compiling"};
  cli::Number<int64_t> seed{*this, "--seed", "S", "With --interpret: the seed (0)", 0};
  cli::Number<int64_t> steps{*this, "--steps", "N", "With --interpret: the number of steps (1)",
                             1,     {1}};
  cli::Text inputDir{*this, "--input-dir", "DIR|F.safetensors",
                     "With --interpret: continue from the output of an earlier run"};
  cli::Text outputDir{*this, "--output-dir", "DIR|F.safetensors",
                      "With --interpret: write the results of the last step and run.json"};

  /// Texts of the flags of stages with the mesh of the model; none before the model is read.
  std::optional<StageTexts> completed;
};

/// Returns the texts of the flags of stages, completed by the model's mesh if it is known.
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
