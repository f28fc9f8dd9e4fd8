// reprise: which code of an image a GPU takes, and where it lies
#ifndef REPRISE_LIB_RUNTIME_CUDACODE_H
#define REPRISE_LIB_RUNTIME_CUDACODE_H

#include "reprise/Runtime/Bundle.h"

#include <optional>

namespace reprise::runtime::cuda {

/// One of the chips in the name of a target such as `cuda:sm_80+sm_90`.
struct Code {
  std::string chip;
  size_t number = 0; ///< among the texts of each kernel
  size_t count = 1;  ///< of these texts
  bool hasCubins = false;
};

/// The code for the latest chip that a GPU of the capability (90 for sm_90) can run; none if there
/// is no such code.
std::optional<Code> chooseCode(const std::string &target, int capability);
/// Whether it is code of NVIDIA GPUs at all.
bool isCudaCode(const std::string &target);

/// Where the text of that number begins, of those that begin at `offset`: each ends with a zero,
/// and begins at a multiple of 64. None if the image ends before.
std::optional<size_t> findText(const std::vector<uint8_t> &image, size_t offset, size_t number);

/// Where the machine code for that chip begins. None if the image ends before its end, or if it is
/// no such code.
std::optional<size_t> findCubin(const std::vector<uint8_t> &image, size_t offset, const Code &code);

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDACODE_H
