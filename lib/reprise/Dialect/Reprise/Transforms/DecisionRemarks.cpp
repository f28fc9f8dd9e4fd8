// reprise: the decisions of a plan as MLIR remarks.
#include "DecisionRemarks.h"

#include "Plan.h"
#include "mlir/IR/Remarks.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {

static void emitRemark(OpResult value, const std::string &id, StringRef function) {
  Verdict verdict = *readVerdict(value);
  StringRef decision = getText(verdict.decision);
  auto options = remark::RemarkOpts::name(decision).category("checkpoint").function(function);
  auto emit = verdict.decision == checkpoint::Decision::Kept        ? remark::missed
              : verdict.decision == checkpoint::Decision::NotNeeded ? remark::analysis
                                                                    : remark::passed;
  auto remark = emit(value.getLoc(), options);
  remark << remark::metric("value", id) << remark::metric("bytes", getByteSize(value.getType()));
  if (std::optional<Label> label = getLabel(value))
    remark << remark::metric("label", stringifyLabel(*label))
           << remark::metric("rule", getRule(value));
  remark << remark::metric("reason", verdict.why());
}

void emitDecisionRemarks(ProgramOp function) {
  if (!function.getContext()->getRemarkEngine())
    return;
  ValueIds ids(function.getBody().front());
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!op->hasAttr(kDecisionsAttr))
      return;
    for (OpResult value : op->getOpResults())
      emitRemark(value, ids.get(value), function.getName());
  });
}

} // namespace reprise
