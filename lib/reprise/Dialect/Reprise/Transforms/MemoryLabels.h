// reprise: the labels of values that share memory
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MEMORYLABELS_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MEMORYLABELS_H

#include "Units.h"
#include "reprise/Policy/Policy.h"
#include "llvm/ADT/SetVector.h"

namespace reprise {

/// Labels of an op in one iteration of the loops around it.
struct ChosenLabels {
  std::optional<LabelSource> ofOp;
  /// Labels that names give to single results of an op with several; empty for other ops.
  llvm::SmallVector<std::optional<LabelSource>, 0> ofResults;

  const std::optional<LabelSource> &of(unsigned result) const {
    return result < ofResults.size() && ofResults[result] ? ofResults[result] : ofOp;
  }
};
/// Labels per op, with an entry per iteration.
using LabelTable = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<ChosenLabels, 1>>;

/// Memories of one function: each is the value of an op, with the views of it in its block.
class MemoryLabels {
public:
  /// `table` has the ops of `tree`. Both stay the caller's. `unroll`: loops will be unrolled.
  MemoryLabels(const UnitTree &tree, LabelTable &table, bool unroll);

  /// Gives each memory one label. Two different MUSTs are an error, which names both ops.
  mlir::LogicalResult join();

  /// Returns the op that has to move `value` to the host if its label asks for an offload: the op
  /// whose memory it shows, if that has such a label as well.
  mlir::Operation *findMover(mlir::OpResult value, unsigned iteration) const;

private:
  struct Member {
    mlir::OpResult value;
    int checkpoint;       ///< innermost checkpoint around its op, -1 outside all
    bool repeats = false; ///< whether it repeats elements: its label is not the memory's
    bool copied = false;  ///< whether it is a view in a loop, which keeps views as copies
  };
  using Memory = llvm::SmallVector<Member, 2>;
  /// PREFERs of a memory: the first of the innermost origin, and those of checkpoints.
  struct Wishes {
    std::optional<LabelSource> anywhere;
    llvm::DenseMap<int, LabelSource> within;
  };

  /// Index of a value's memory in `memories`.
  struct Home {
    size_t memory = 0;
    bool repeats = false;
  };

  void add(const FlatOp &entry);
  std::optional<Home> findHome(mlir::OpResult shown);
  mlir::LogicalResult checkLoops() const;
  mlir::LogicalResult join(const Memory &memory, unsigned iteration);
  mlir::FailureOr<const Member *> findMust(const Memory &memory, unsigned iteration) const;
  mlir::LogicalResult refuse(const Member &later, const Member &first, unsigned iteration) const;
  Wishes collectWishes(const Memory &memory, unsigned iteration) const;
  std::optional<LabelSource> choose(const Wishes &wishes, const Member &member,
                                    unsigned iteration) const;
  void take(const Member &member, unsigned iteration, const LabelSource &label);
  const std::optional<LabelSource> &get(const Member &member, unsigned iteration) const {
    return table.find(member.value.getOwner())
        ->second[iteration]
        .of(member.value.getResultNumber());
  }

  /// Returns true if the member's label concerns its own bytes.
  static bool isApart(const Member &member, const LabelSource &own) {
    return member.repeats || (member.copied && asksToSave(own.label));
  }

  const UnitTree &tree;
  LabelTable &table;
  bool unroll;
  llvm::DenseMap<mlir::Operation *, int> checkpoints; ///< checkpoints of ops
  llvm::DenseMap<mlir::Value, Home> homes;
  llvm::SetVector<mlir::Value> ofLoops; ///< views of results of loops
  std::vector<Memory> memories;         ///< memories with views; the shown value is first
};

/// Writes the labels of `op` as its attributes. What cannot be offloaded is an error or falls back.
class LabelWriter {
public:
  LabelWriter(const MemoryLabels &memories, const LabelTable &table, bool unroll)
      : memories(memories), table(table), unroll(unroll) {}

  mlir::LogicalResult write(mlir::Operation *op);

private:
  mlir::LogicalResult honour(mlir::OpResult value, unsigned iteration, LabelSource &label);
  mlir::FailureOr<mlir::DictionaryAttr> describe(mlir::Operation *op, unsigned iteration);
  mlir::LogicalResult reportSplit(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> iterations);

  const MemoryLabels &memories;
  const LabelTable &table;
  bool unroll; ///< iterations may differ
  llvm::DenseSet<std::pair<mlir::Operation *, mlir::Attribute>>
      remarked; ///< one remark for all iterations
};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MEMORYLABELS_H
