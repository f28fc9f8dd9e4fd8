// reprise: the launches of one block as a graph, and the bytes that orders of them take
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_LAUNCHGRAPH_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_LAUNCHGRAPH_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Target/LaunchFacts.h"
#include "llvm/ADT/MapVector.h"

namespace reprise::exec {

/// Numbers of launches, in the order in which they run.
using LaunchOrder = std::vector<size_t>;

/// The launches of one block as a graph. A launch waits for those that make what it reads, and an
/// argument's next value, which lies in its place, for the readers of the old one.
class LaunchGraph {
public:
  static mlir::FailureOr<LaunchGraph> build(ProgramOp entry, LaunchFacts &facts);

  size_t size() const { return nodes.size(); }
  LaunchOp getLaunch(size_t number) const { return nodes[number].launch; }
  /// The launches that wait for this one.
  llvm::ArrayRef<size_t> getNext(size_t number) const { return nodes[number].next; }
  /// The bytes that live at once, at most, in the order given. The bytes while each launch runs go
  /// to `profile`, by place.
  int64_t measure(const LaunchOrder &order, std::vector<int64_t> &profile) const;
  /// An order that takes at most `most` bytes: the first launch of the program that can run and
  /// fits runs next. Empty if none fits some time.
  LaunchOrder findFirstFitting(int64_t most) const;

private:
  struct Node {
    LaunchOp launch;
    llvm::SmallVector<size_t> reads, makes; // buffers
    llvm::SmallVector<size_t> next;         // launches that wait for it
    size_t numWaitsFor = 0;
    int64_t scratch = 0; // bytes
    /// Results, by number among `makes`, with buffers in whose place they can lie.
    llvm::SmallVector<std::pair<size_t, size_t>> inPlace;
  };
  struct Buffer {
    int64_t bytes = 0;
    size_t numReaders = 0; // the return is one, too
  };
  /// What lies in memory between two launches.
  struct State {
    std::vector<size_t> readersLeft; // per buffer
    int64_t live = 0;
  };

  mlir::LogicalResult addLaunch(LaunchOp launch, LaunchFacts &facts);
  void addEdge(size_t from, size_t to) {
    if (llvm::is_contained(nodes[from].next, to))
      return;
    nodes[from].next.push_back(to);
    ++nodes[to].numWaitsFor;
  }
  void findNextValues(ProgramOp entry);
  State start() const;
  int64_t findGrowth(const Node &node, const State &state) const;
  void run(const Node &node, State &state) const;

  std::vector<Node> nodes;
  std::vector<Buffer> buffers;
  llvm::MapVector<mlir::Value, size_t> bufferOf;
  llvm::DenseMap<mlir::Operation *, size_t> numberOf;
};

/// An order of few bytes by annealing: a launch moves to another place between those that it waits
/// for and those that wait for it. Looks for fewer bytes than it has found until they are at most
/// `enough`; the steps are the same whatever `enough` is. Returns the bytes of the order found.
int64_t annealOrder(const LaunchGraph &graph, int64_t enough, LaunchOrder &order);

} // namespace reprise::exec

#endif // REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_LAUNCHGRAPH_H
