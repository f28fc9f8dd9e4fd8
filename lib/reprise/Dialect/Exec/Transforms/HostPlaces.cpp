// reprise: places of values in host memory
#include "HostPlaces.h"

#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Planning/Offsets/Problem.h"
#include "reprise/Planning/Offsets/Solve.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

/// Returns the packing problem of offloads: the bytes of each are used from its begin to the end of
/// its last fetch.
static offsets::Problem findLives(ArrayRef<HostOffloadOp> offloads, const Positions &positions) {
  offsets::Problem problem;
  for (HostOffloadOp offload : offloads) {
    auto [first, last] = positions.inFlight(offload);
    for (Operation *fetch : offload.getHost().getUsers())
      last = std::max(last, positions.inFlight(fetch).second);
    problem.buffers.push_back({first, last, getByteSize(offload.getValue().getType())});
  }
  return problem;
}

LogicalResult reprise::exec::placeOnHost(ProgramOp program, int64_t programs) {
  Block &block = program.getBody().front();
  auto offloads = llvm::to_vector(block.getOps<HostOffloadOp>());
  if (offloads.empty())
    return success();
  offsets::Problem problem = findLives(offloads, Positions(block));
  offsets::Solution solution = offsets::solve(problem, offsets::limitWork(problem, programs));
  if (auto defect = offsets::validate(problem, solution))
    return program.emitError("the packed memory of the host is wrong: ") << defect->message;
  for (auto [offload, offset] : llvm::zip_equal(offloads, solution.offsets))
    offload.setPlace(offset);
  setHostBytes(program, solution.height);
  return success();
}

LogicalResult reprise::exec::verifyHostPlaces(ProgramOp program) {
  Block &block = program.getBody().front();
  auto offloads = llvm::to_vector(block.getOps<HostOffloadOp>());
  offsets::Solution solution;
  for (HostOffloadOp offload : offloads) {
    if (!offload.getPlace())
      return offload.emitError("expected a place on the host: run exec-place-buffers first");
    solution.offsets.push_back(*offload.getPlace());
  }
  solution.height = getHostBytes(program).value_or(0);
  auto defect = offsets::validate(findLives(offloads, Positions(block)), solution);
  if (!defect)
    return success();
  Operation *at = defect->first < offloads.size() ? offloads[defect->first] : program;
  return at->emitError("the memory of the host is wrong: ") << defect->message;
}
