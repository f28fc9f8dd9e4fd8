// reprise: the problem of what to save and what to replay, its solution, and its judge
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::checkpoint {

/// What the user asks for a value.
enum class Wish : uint8_t { None, PreferSave, MustSave, PreferRecompute, MustRecompute };

/// What an operation's kernel can do with the values that it reads or makes.
enum class Kind : uint8_t {
  Elementwise, // can be computed inside its consumer's kernel; reads from registers
  View,        // the same, and its elements are its operand's
  Reduction,   // reads from registers, but is a kernel of its own
  Contraction, // reads memory, often enough that a pass over an operand costs little beside it
  Other,       // reads memory: attention, gathers
};

/// An operand that is there whenever it is read: an argument, a constant, a value from outside.
inline constexpr int kAvailable = -1;

/// A node of the tree of blocks. Container 0 is the root, which holds no operation itself; parents
/// come before their children.
struct Container {
  int parent = -1;
};

struct Value {
  int operation = 0;
  int64_t bytes = 0;
  int root = 0; // the value whose buffer this one is a view of, or kAvailable; else itself
  Wish wish = Wish::None;
  bool outlives = false; // read after the backward pass, so that it is there all the time
};

struct Operation {
  int container = 0;  // the innermost
  int body = 0;       // the body of a loop; replays serve readers in their own body only
  int64_t order = 0;  // derivative order: bit i is set if expansion i made the operation
  bool primal = true; // else it belongs to the cotangent part: it is never replayed
  Kind kind = Kind::Other;
  bool remade = false; // a view that is made again where a replay reads it: what a loop keeps of a
                       // view is a copy
  int64_t flops = 0;
  std::vector<int> operands; // values or kAvailable
  int firstResult = 0;       // results are the values firstResult … firstResult + numResults - 1
  int numResults = 0;
};

/// One differentiated computation: its primal part and its cotangents, in program order, without
/// constants.
struct Problem {
  std::vector<Container> containers;
  std::vector<Operation> operations;
  std::vector<Value> values;
};

enum class Decision : uint8_t {
  Saved,     // held for the backward pass as wished, or for lack of a wish
  Kept,      // held against its wish
  Replayed,  // computed again
  NotNeeded, // read by neither the backward pass nor a replay
};

/// As reports and plans have it.
std::string_view getText(Decision decision);

/// Why a decision was made.
enum class Reason : uint8_t {
  Wish,       // as wished
  Fastest,    // no wish: saving costs less time
  NearlyFree, // no wish: computed again inside its consumer's kernel
  BlockInput, // an input of a unit that has replays, or of the last unit
  LastUnit,   // of the last unit before its backward
  Budget,     // the plan that fits the budget says so
  Outlives,   // there in any case
  Moot,       // wished for, but not needed
  NotRead,    // neither
};

/// One execution of an operation: the original (replay 0), or a replay. `sources` names for every
/// operand the execution of its operation that is read, by replay number; 0 where it is available.
struct Execution {
  int operation = 0;
  int replay = 0;
  std::vector<int> sources;
};

/// A schedule; decisions and reasons per value.
struct Solution {
  std::vector<Execution> executions;
  std::vector<Decision> decisions;
  std::vector<Reason> reasons;
};

/// The number of the expansion, from 1, that made operations of this order; 0 for the source.
int getLevel(int64_t order);
/// True if `reader` belongs to a backward pass over the computation that `definition` is part of:
/// a later expansion made it. Reads inside one level are forward flow.
bool readsBack(const Operation &reader, const Operation &definition);

/// What is wrong, and with which operation or value, if there is one.
struct Defect {
  enum class Kind { Problem, Order, Source, Replay, Label, Decision };
  Kind kind;
  int operation = -1;
  int value = -1;
  std::string message;
};

/// Checks indices, that containers form a tree, and that operands are defined before they are read.
std::optional<Defect> validate(const Problem &problem);

/// The judge of every solver, which shares nothing with them: originals run once, in program order;
/// only primal operations are replayed; every source ran before; forward reads take the original;
/// every replay is read; MUST holds, PREFER holds or has a reason; decisions say what happens.
std::optional<Defect> validate(const Problem &problem, const Solution &solution);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_H
