// reprise: copies of images for the tensor cores of a GPU, with a frame of zeros and channels last
#ifndef REPRISE_CONVERSION_CUDA_CHANNELSLAST_H
#define REPRISE_CONVERSION_CUDA_CHANNELSLAST_H

#include "../ConvolutionParts.h"
#include "../LoopNest/LaunchOperands.h"

namespace reprise {

/// Copies `value`, [samples, channels, spatial…] of 16-bit floats, to the launch's scratch. The
/// returned strides are those of its dimensions in the copy, with the frame.
mlir::FailureOr<LaunchOperand> copyChannelsLast(LaunchOperands &operands, mlir::ModuleOp kernels,
                                                llvm::StringRef name, mlir::Value value,
                                                const Frame &frame);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_CHANNELSLAST_H
