// reprise: a run of the C API
#ifndef REPRISE_LIB_CAPI_RUNHANDLE_H
#define REPRISE_LIB_CAPI_RUNHANDLE_H

#include "Handles.h"
#include "Tensor.h"

#include "reprise/Runtime/FolderSaver.h"
#include "reprise/Runtime/Session.h"

#include <cstdlib>
#include <set>

namespace reprise::capi {

struct Free {
  void operator()(uint8_t *memory) const { std::free(memory); }
};
using HostMemory = std::unique_ptr<uint8_t, Free>;

/// Tensor that steps cannot use in place, and the copy that they use.
struct Copied {
  DLTensor tensor;
  std::vector<int64_t> shape, strides; ///< shape and strides of the tensor
  HostMemory memory;
  uint64_t elementBytes = 0;
  bool isReplaced = false; ///< a result replaces it
  bool isLate = false;     ///< accessed only behind the pause
  bool isMoved = false;    ///< bound at a pause, and read again behind it
  bool isEarly = false;    ///< its result is complete at the pause
};

/// Result that is joined from rows on several devices.
struct JoinedRows {
  std::vector<int64_t> shape;
  runtime::DType dtype = runtime::DType::F32;
  HostMemory memory;
};

/// Returns memory at a multiple of bufferAlignment; null if there is none.
HostMemory allocateHost(uint64_t bytes);

} // namespace reprise::capi

struct reprise_run {
  reprise::capi::SessionPtr session;
  reprise::runtime::DevicePlace place;
  std::unique_ptr<reprise::runtime::ProgramGroup> group;
  std::unique_ptr<reprise::runtime::Session> steps;
  std::map<std::string, reprise::capi::Copied> copies; ///< copies by argument
  std::set<std::string> earlyResults;                  ///< results that are complete at the pause
  std::set<std::string> taken; ///< results that the caller has taken since the last step
  /// Joined results that the caller has read since the last step.
  std::map<std::string, reprise::capi::JoinedRows> joined;
  reprise::runtime::FolderSaver saver{nullptr};
  std::string hash;
  bool isStarted = false, hasStepped = false, hasMemory = false;

  const reprise::runtime::Argument *find(const std::string &name) const {
    std::optional<size_t> found = steps->find(name);
    return found ? &group->bundle().arguments[*found] : nullptr;
  }
  bool isReplaced(const std::string &name) const;
  std::string check(const std::string &name, const DLTensor &tensor, bool mayHaveRows) const;
  std::string checkPlace(const std::string &name, const DLTensor &tensor) const;
  reprise::runtime::Error bindCopy(const std::string &name, const DLTensor &tensor, uint64_t bytes);
  /// Part of a step, by the arguments that it accesses and the results that it completes.
  enum Part { All, ToPause, FromPause };
  void copyIn(Part part);
  void copyOut(Part part);
  /// Finds the program of a result, and the number of the result there. Fails if the result has no
  /// value.
  reprise::runtime::Expected<std::pair<size_t, size_t>> findResult(const std::string &name) const;
  bool isInRows(const std::string &name) const;
  /// Joins the rows of a result, of a run on the CPU.
  reprise::runtime::Expected<reprise::capi::JoinedRows> joinRows(const std::string &name) const;
};

#endif // REPRISE_LIB_CAPI_RUNHANDLE_H
