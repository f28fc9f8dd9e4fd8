// reprise: values of the attributes of an entry function's arguments and results
#ifndef REPRISE_LIB_DIALECT_REPRISE_IR_ARGUMENTATTRIBUTES_H
#define REPRISE_LIB_DIALECT_REPRISE_IR_ARGUMENTATTRIBUTES_H

#include "reprise/Dialect/Reprise/IR/AttributeTable.h"

namespace reprise {

bool isRole(const AttributePlace &place, mlir::Attribute value);
std::string explainRole(const AttributePlace &place, mlir::Attribute value);
bool isInitializer(const AttributePlace &place, mlir::Attribute value);
std::string explainInitializer(const AttributePlace &place, mlir::Attribute value);
bool isEntryName(const AttributePlace &place, mlir::Attribute value);
bool isBatchDim(const AttributePlace &place, mlir::Attribute value);
bool isPosition(const AttributePlace &place, mlir::Attribute value);
/// Returns true for a sharding of a value of the type.
bool isShardingOf(mlir::Type type, mlir::Attribute value);
bool isSharding(const AttributePlace &place, mlir::Attribute value);
bool isText(const AttributePlace &place, mlir::Attribute value);
bool isRows(const AttributePlace &place, mlir::Attribute value);
bool isCheck(const AttributePlace &place, mlir::Attribute value);
bool isReplayOf(const AttributePlace &place, mlir::Attribute value);

inline constexpr ValueKind kRole{"\"input\", \"parameter\" or \"state\"", isRole, explainRole};
inline constexpr ValueKind kInitializer{"a #reprise initializer", isInitializer,
                                        explainInitializer};
inline constexpr ValueKind kEntryName{"a name", isEntryName};
inline constexpr ValueKind kBatchDim{"a dimension of the argument", isBatchDim};
inline constexpr ValueKind kPosition{"a number from 0 on", isPosition};
inline constexpr ValueKind kSharding{
    "a unit attribute or \"model\" for each dimension, and \"model\" at most once", isSharding};
inline constexpr ValueKind kText{"a string", isText};
inline constexpr ValueKind kRowRange{"a range of rows and how many there are", isRows};
inline constexpr ValueKind kCheck{"a string without a name beside it", isCheck};
inline constexpr ValueKind kReplayOf{
    "an earlier result of the same type, with 'reprise.check' beside it", isReplayOf};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_IR_ARGUMENTATTRIBUTES_H
