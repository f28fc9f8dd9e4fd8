// reprise: all ops of the dialect.
#ifndef REPRISE_OPS
#define REPRISE_OPS

include "reprise/Dialect/Reprise/IR/AttentionOps.td"
include "reprise/Dialect/Reprise/IR/CallOps.td"
include "reprise/Dialect/Reprise/IR/ConvolutionOps.td"
include "reprise/Dialect/Reprise/IR/ElementwiseOps.td"
include "reprise/Dialect/Reprise/IR/LoopOps.td"
include "reprise/Dialect/Reprise/IR/NormalizationOps.td"
include "reprise/Dialect/Reprise/IR/PauseOps.td"
include "reprise/Dialect/Reprise/IR/PolicyOps.td"
include "reprise/Dialect/Reprise/IR/ProgramOps.td"
include "reprise/Dialect/Reprise/IR/RandomOps.td"
include "reprise/Dialect/Reprise/IR/ReductionOps.td"
include "reprise/Dialect/Reprise/IR/RegionOps.td"
include "reprise/Dialect/Reprise/IR/ShapeOps.td"

#endif
