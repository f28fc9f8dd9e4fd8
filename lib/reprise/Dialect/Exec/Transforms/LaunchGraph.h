// reprise: the launches of one block as a graph, and the bytes of their orders
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_LAUNCHGRAPH_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_LAUNCHGRAPH_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Target/LaunchFacts.h"
#include "llvm/ADT/MapVector.h"

namespace reprise::exec {

/// Numbers of launches, in execution order.
using LaunchOrder = std::vector<size_t>;

/// Launches of one block as a graph. A launch waits for the launches whose results it reads. An
/// argument's next value, which overwrites the old value, waits for the readers of the old value.
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
  /// Returns an order of at most `most` bytes: at each step runs the first launch in program order
  /// that is ready and fits. Empty if at some step none fits.
  LaunchOrder findFirstFitting(int64_t most) const;

private:
  struct Node {
    LaunchOp launch;
    llvm::SmallVector<size_t> reads, makes; // buffers
    llvm::SmallVector<size_t> next;         // launches that wait for it
    size_t numWaitsFor = 0;
    int64_t scratch = 0; // bytes
    /// Results, by number among `makes`, with buffers that they may overwrite.
    llvm::SmallVector<std::pair<size_t, size_t>> inPlace;
  };
  struct Buffer {
    int64_t bytes = 0;
    size_t numReaders = 0; // the return counts as a reader
  };
  /// Memory between two launches.
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

/// Anneals an order to fewer bytes: a launch moves to another place between the launches that it
/// waits for and those that wait for it. The search ends when the bytes are at most `enough`; its
/// steps do not depend on `enough`. Returns the bytes of the order found.
int64_t annealOrder(const LaunchGraph &graph, int64_t enough, LaunchOrder &order);

} // namespace reprise::exec

#endif // REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_LAUNCHGRAPH_H
