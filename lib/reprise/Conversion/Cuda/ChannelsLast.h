// reprise: copies of images for the tensor cores of a GPU, with a frame of zeros and channels last
#ifndef REPRISE_CONVERSION_CUDA_CHANNELSLAST_H
#define REPRISE_CONVERSION_CUDA_CHANNELSLAST_H

#include "../ConvolutionParts.h"
#include "../LoopNest/LaunchOperands.h"

namespace reprise {

/// A copy of `value`, [samples, channels, spatial…] of 16-bit floats, in the launch's scratch: the
/// strides that are returned are those of its dimensions in the copy, with the frame.
mlir::FailureOr<LaunchOperand> copyChannelsLast(LaunchOperands &operands, mlir::ModuleOp kernels,
                                                llvm::StringRef name, mlir::Value value,
                                                const Frame &frame);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_CHANNELSLAST_H
