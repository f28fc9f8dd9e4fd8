// reprise: names of the attributes that labels, gradients and plans put on ops and programs
#ifndef REPRISE_DIALECT_REPRISE_IR_PLANATTRIBUTES_H
#define REPRISE_DIALECT_REPRISE_IR_PLANATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace reprise {

// The table of attributes (Attributes.cpp) explains each attribute.
inline constexpr llvm::StringLiteral kBlockAttr = "reprise.block";
inline constexpr llvm::StringLiteral kLabelAttr = "reprise.label";
inline constexpr llvm::StringLiteral kRuleAttr = "reprise.rule";
inline constexpr llvm::StringLiteral kResultLabelsAttr = "reprise.result_labels";
inline constexpr llvm::StringLiteral kResultRulesAttr = "reprise.result_rules";
inline constexpr llvm::StringLiteral kIterationsAttr = "reprise.iterations";
inline constexpr llvm::StringLiteral kNamesAttr = "reprise.names";
inline constexpr llvm::StringLiteral kOrderAttr = "reprise.order";
inline constexpr llvm::StringLiteral kPrimalAttr = "reprise.primal";
inline constexpr llvm::StringLiteral kCotangentAttr = "reprise.cotangent";
inline constexpr llvm::StringLiteral kCopyAttr = "reprise.copy";
inline constexpr llvm::StringLiteral kChoicesAttr = "reprise.choices";
inline constexpr llvm::StringLiteral kOneScopeAttr = "reprise.one_scope";
inline constexpr llvm::StringLiteral kPlannedAttr = "reprise.planned";
inline constexpr llvm::StringLiteral kBodiesAttr = "reprise.bodies_planned";
inline constexpr llvm::StringLiteral kDecisionsAttr = "reprise.decisions";
inline constexpr llvm::StringLiteral kReasonsAttr = "reprise.reasons";
inline constexpr llvm::StringLiteral kIdAttr = "reprise.id";
inline constexpr llvm::StringLiteral kOriginalAttr = "reprise.original";
inline constexpr llvm::StringLiteral kSavedBytesAttr = "reprise.saved_bytes";
inline constexpr llvm::StringLiteral kReplayedOpsAttr = "reprise.replayed_ops";

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_PLANATTRIBUTES_H
