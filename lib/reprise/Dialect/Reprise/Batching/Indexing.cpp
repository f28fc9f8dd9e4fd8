// reprise: factors of ops that read or write at indices
#include "FactorRule.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Finds factors of gather. Rows of a table stay together; the dimensions of a row and the indices
/// may be cut.
static void findFactors(GatherOp op, FactorRule &rule) {
  SmallVector<int> at = rule.addAll(rule.shapeOfOperand(1));
  SmallVector<int> row = rule.addAll(rule.shapeOfOperand(0).drop_front());
  rule.setOperand(1, at);
  rule.setResult(0, llvm::to_vector(llvm::concat<int>(at, row)));
  row.insert(row.begin(), -1);
  rule.setOperand(0, row);
}

/// Finds factors of scatter_add: every update is a term.
static void findFactors(ScatterAddOp op, FactorRule &rule) {
  SmallVector<int> at = rule.addAll(rule.shapeOfOperand(0), FactorKind::Summed);
  SmallVector<int> row = rule.addAll(rule.shapeOfResult(0).drop_front());
  rule.setOperand(0, at);
  rule.setOperand(1, llvm::to_vector(llvm::concat<int>(at, row)));
  row.insert(row.begin(), -1);
  rule.setResult(0, row);
}

/// The last update of a row stays, so updates are coupled.
static void findFactors(ScatterOp op, FactorRule &rule) {
  SmallVector<int> row = rule.addAll(rule.shapeOfResult(0).drop_front());
  SmallVector<int> updates(rule.shapeOfOperand(1).size(), -1);
  updates.append(row);
  rule.setOperand(2, updates);
  row.insert(row.begin(), -1);
  rule.setOperand(0, row);
  rule.setResult(0, row);
}

static void findFactors(TakeAlongOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(1));
  rule.setOperand(1, rows);
  rule.setResult(0, rows);
  rows.back() = -1;
  rule.setOperand(0, rows);
}

static void findFactors(ScatterAddAlongOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(0).drop_back());
  rule.setResult(0, rows);
  rows.push_back(rule.add(rule.shapeOfOperand(0).back(), FactorKind::Summed));
  rule.setOperand(0, rows);
  rule.setOperand(1, rows);
}

static void findFactors(OneHotOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(0));
  rule.setOperand(0, rows);
  rule.setResult(0, rows);
}

/// The last dimension stays together.
static void findFactors(TopKOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(0).drop_back());
  rule.setOperand(0, rows);
  rule.setResult(0, rows);
  rule.setResult(1, rows);
}

void attachIndexingBatching(MLIRContext *context) {
  attachBatching<GatherOp, ScatterAddOp, ScatterOp, TakeAlongOp, ScatterAddAlongOp, OneHotOp,
                 TopKOp>(context);
}

} // namespace reprise
