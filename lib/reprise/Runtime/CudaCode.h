// reprise: the code of an image for a GPU, and its place
#ifndef REPRISE_LIB_RUNTIME_CUDACODE_H
#define REPRISE_LIB_RUNTIME_CUDACODE_H

#include "reprise/Runtime/Bundle.h"

#include <optional>

namespace reprise::runtime::cuda {

/// Code for one of the chips in the name of a target such as `cuda:sm_80+sm_90`.
struct Code {
  std::string chip;
  size_t number = 0; ///< number among the texts of each kernel
  size_t count = 1;  ///< number of texts
  bool hasCubins = false;
};

/// Returns the code for the latest chip that a GPU of the capability (90 for sm_90) can run; none
/// if there is no such code.
std::optional<Code> chooseCode(const std::string &target, int capability);
/// Returns what the kernel is where that code runs: \p chips are those of the image, older ones
/// first.
ChipKernel chooseKernel(const Kernel &kernel, const Code &code,
                        const std::vector<std::string> &chips);
/// Returns whether the code is for NVIDIA GPUs.
bool isCudaCode(const std::string &target);

/// Returns the begin of text `number` among texts from `offset` on: each ends with a zero, and
/// begins at a multiple of 64. None if the image is too short.
std::optional<size_t> findText(const std::vector<uint8_t> &image, size_t offset, size_t number);

/// Returns the begin of the machine code for that chip. None if the image is too short, or has no
/// such code.
std::optional<size_t> findCubin(const std::vector<uint8_t> &image, size_t offset, const Code &code);

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDACODE_H
