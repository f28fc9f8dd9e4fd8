// reprise: factors of ops that read or write at indices
#include "FactorRule.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Rows of a table stay together; what a row holds may be cut, and so may the indices.
template <> void findFactors(GatherOp op, FactorRule &rule) {
  SmallVector<int> at = rule.addAll(rule.shapeOfOperand(1));
  SmallVector<int> row = rule.addAll(rule.shapeOfOperand(0).drop_front());
  rule.setOperand(1, at);
  rule.setResult(0, llvm::to_vector(llvm::concat<int>(at, row)));
  row.insert(row.begin(), -1);
  rule.setOperand(0, row);
}

/// Every update is a term.
template <> void findFactors(ScatterAddOp op, FactorRule &rule) {
  SmallVector<int> at = rule.addAll(rule.shapeOfOperand(0), FactorKind::Summed);
  SmallVector<int> row = rule.addAll(rule.shapeOfResult(0).drop_front());
  rule.setOperand(0, at);
  rule.setOperand(1, llvm::to_vector(llvm::concat<int>(at, row)));
  row.insert(row.begin(), -1);
  rule.setResult(0, row);
}

/// The last update of a row stays, so updates are coupled.
template <> void findFactors(ScatterOp op, FactorRule &rule) {
  SmallVector<int> row = rule.addAll(rule.shapeOfResult(0).drop_front());
  SmallVector<int> updates(rule.shapeOfOperand(1).size(), -1);
  updates.append(row);
  rule.setOperand(2, updates);
  row.insert(row.begin(), -1);
  rule.setOperand(0, row);
  rule.setResult(0, row);
}

template <> void findFactors(TakeAlongOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(1));
  rule.setOperand(1, rows);
  rule.setResult(0, rows);
  rows.back() = -1;
  rule.setOperand(0, rows);
}

template <> void findFactors(ScatterAddAlongOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(0).drop_back());
  rule.setResult(0, rows);
  rows.push_back(rule.add(rule.shapeOfOperand(0).back(), FactorKind::Summed));
  rule.setOperand(0, rows);
  rule.setOperand(1, rows);
}

template <> void findFactors(OneHotOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(0));
  rule.setOperand(0, rows);
  rule.setResult(0, rows);
}

/// The last dimension stays together.
template <> void findFactors(TopKOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(0).drop_back());
  rule.setOperand(0, rows);
  rule.setResult(0, rows);
  rule.setResult(1, rows);
}

} // namespace reprise
