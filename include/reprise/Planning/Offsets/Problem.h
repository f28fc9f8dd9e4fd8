// reprise: offsets of buffers in one arena: the problem, its solution, and its judge
#ifndef REPRISE_PLANNING_OFFSETS_PROBLEM_H
#define REPRISE_PLANNING_OFFSETS_PROBLEM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise::offsets {

/// Block of memory that is needed from one command to another, both included.
struct Buffer {
  int64_t first = 0; // command that writes it
  int64_t last = 0;  // last command that reads or writes it
  int64_t size = 0;  // bytes; a buffer of 0 bytes is ignored
};

struct Problem {
  std::vector<Buffer> buffers;
  /// Divisor of every offset, in bytes.
  int64_t alignment = 64;
  /// Groups of buffers with the same offset, such as an operation's input and its result in place.
  /// Members may overlap in time. A buffer is in at most one group.
  std::vector<std::vector<size_t>> groups;
};

struct Solution {
  std::vector<int64_t> offsets; // one per buffer, bytes
  int64_t height = 0;           // max(offset + size), sizes unrounded
};

/// Defect of a problem or a solution, and the buffers that have it.
struct Defect {
  enum class Kind { Problem, Count, Offset, Group, Overlap, Height };
  Kind kind;
  size_t first = 0;  // index of a buffer, if there is one
  size_t second = 0; // index of the other buffer, for Group and Overlap
  std::string message;
};

/// Checks the preconditions of `solve`: sizes from 0, first <= last, a positive alignment, disjoint
/// groups of existing buffers, and sizes whose sum stays below 2^62.
std::optional<Defect> validate(const Problem &problem);

/// Judges the solution of any solver, and shares no code with the solvers. Returns the first
/// defect, in the order of the commands. O(n log n).
std::optional<Defect> validate(const Problem &problem, const Solution &solution);

/// Returns the largest sum of sizes that are needed at one command, where the members of a group
/// count as their largest. No arena is smaller.
int64_t maxLoad(const Problem &problem);

/// Returns a lower bound on the height that includes the alignment: of all buffers live at one
/// command only the topmost may end unaligned. At least maxLoad, and equal to it for alignment 1.
int64_t lowerBound(const Problem &problem);

} // namespace reprise::offsets

#endif // REPRISE_PLANNING_OFFSETS_PROBLEM_H
