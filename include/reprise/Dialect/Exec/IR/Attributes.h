// reprise: names of the attributes that command lists and their functions carry
#ifndef REPRISE_DIALECT_EXEC_IR_ATTRIBUTES_H
#define REPRISE_DIALECT_EXEC_IR_ATTRIBUTES_H

#include "reprise/Dialect/Reprise/IR/AttributeTable.h"

namespace reprise::exec {

// The table of attributes (Attributes.cpp) explains each attribute.
inline constexpr llvm::StringLiteral kOffsetsAttr = "exec.offsets";
inline constexpr llvm::StringLiteral kReportedAttr = "exec.reported";
inline constexpr llvm::StringLiteral kPartsAttr = "exec.parts";
inline constexpr llvm::StringLiteral kArenaBytesAttr = "exec.arena_bytes";
inline constexpr llvm::StringLiteral kHostBytesAttr = "exec.host_bytes";
inline constexpr llvm::StringLiteral kLaunchesMovedAttr = "exec.launches_moved";
inline constexpr llvm::StringLiteral kNestsAttr = "exec.nests";
inline constexpr llvm::StringLiteral kInPlaceAttr = "exec.in_place";
inline constexpr llvm::StringLiteral kPlaceAlignmentAttr = "exec.place_alignment";

/// Lists the attributes of the dialect `exec`.
llvm::ArrayRef<AttributeRow> getAttributeTable();

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_IR_ATTRIBUTES_H
