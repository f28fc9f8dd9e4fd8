// reprise: the devices that run the ops of the parts of a model and own its arrays
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PARTPLACES_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PARTPLACES_H

#include "ReplicaCovers.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "llvm/ADT/BitVector.h"

#include <map>
#include <optional>

namespace reprise::pipe {

/// Sizes of the axes of the devices. The devices of a rank of a replica form a group, with one
/// device per part of the model. A rank has one stage, or several chunks.
struct PartMesh {
  int64_t replicas = 1, ranks = 1, parts = 1;
  llvm::SmallVector<int64_t> rankOfStage; ///< empty for one rank

  int64_t countDevices() const { return replicas * ranks * parts; }
  int64_t findRank(int64_t stage) const {
    return rankOfStage.empty() ? 0 : rankOfStage[std::min<int64_t>(stage, rankOfStage.size() - 1)];
  }
  /// Returns the first device of the group of a stage.
  int64_t findGroup(int64_t replica, int64_t stage) const {
    return (replica * ranks + findRank(stage)) * parts;
  }
};

/// Devices of a flat step that is cut into the parts of a model.
///
/// - An op of a part runs on the device of the part, in the group of its micro-batch and stage.
/// - An op on values of several replicas, such as a sum over lanes, runs on one of these replicas,
///   which its reader chooses. So each level of a tree of sums sends half of the values that are
///   left, and its root stands where the sum is read.
/// - Arrays that elementwise ops of an update connect, and an argument and its next value, live on
///   one device of the first stage that reads them. The device with the fewest bytes so far gets
///   the next set. A part of an array lives on a device of this part.
/// - An op that only one device reads runs there. An op that several devices of its group read
///   belongs to none, and each of them computes it. For devices of other groups one device of the
///   group computes the op, too, and sends the results.
/// - An op of no group that reads much more than it computes, such as a norm of gradients, runs on
///   one device. These devices take turns. So do rows of a table run on its device.
/// - Slices are made on the device of what they cut, so that only slices are sent. If the whole has
///   fewer bytes, as for readers of many slices, each reader makes its slices.
class PartPlaces {
public:
  /// Finds the places. Adds a copy of each op that devices of other groups read.
  PartPlaces(ProgramOp step, PartMesh mesh);

  /// Returns the device of an op; none for an op that its readers compute.
  std::optional<int64_t> get(mlir::Operation *op) const;
  /// Returns the devices of parameters and states, by the argument's number.
  const std::map<unsigned, int64_t> &getHomes() const { return homes; }

private:
  /// Range of devices that read a value; empty without readers.
  struct Readers {
    int64_t first = INT64_MAX, last = -1;
    void add(Readers other) {
      first = std::min(first, other.first);
      last = std::max(last, other.last);
    }
    bool isOne() const { return first == last; }
  };

  /// Arrays that live on one device.
  struct ArraySet {
    int64_t bytes = 0, home = 0;
    std::optional<int64_t> stage; ///< first stage that reads one of them
    std::optional<int64_t> part;  ///< part of the model that they belong to
  };

  void assignHomes();
  int64_t findHome(const ArraySet &set, llvm::ArrayRef<int64_t> held) const;
  void placeOps();
  void placeOp(mlir::Operation &op);
  void placeInGroup(mlir::Operation &op, int64_t group);
  std::optional<int64_t> findTable(mlir::Operation &op) const;
  void placeSlices();
  void placeSlices(mlir::Value value, llvm::ArrayRef<mlir::Operation *> slices, int64_t maker);
  std::optional<int64_t> findMaker(mlir::Value value) const;
  void addReaders(mlir::Value value, int64_t maker, llvm::BitVector &found);
  void setDevice(mlir::Operation *op, int64_t device);
  std::optional<int64_t> findGroup(mlir::Operation &op);
  int64_t findReplica(mlir::Operation &op, int64_t microbatch);
  Readers findReaders(mlir::OpOperand &use);

  ProgramOp step;
  EntrySignature signature;
  PartMesh mesh;
  ReplicaCovers covers;
  int64_t microbatches, turn = 0;
  std::map<unsigned, int64_t> homes;
  llvm::DenseMap<mlir::Operation *, Readers> readers;
  llvm::DenseMap<mlir::Operation *, int64_t> devices;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PARTPLACES_H
