// reprise: plans of device programs as attributes.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

template <typename Element> static bool holdsOnly(ArrayAttr list) {
  return !list || llvm::all_of(list, [](Attribute entry) { return isa<Element>(entry); });
}

static bool areChoices(Attribute list) {
  auto choices = dyn_cast<ArrayAttr>(list);
  return choices && holdsOnly<PlanChoiceAttr>(choices);
}

static bool isExecution(Attribute attribute) {
  auto numbers = dyn_cast<DenseI32ArrayAttr>(attribute);
  if (!numbers || numbers.size() < 3)
    return false;
  ArrayRef<int32_t> list = numbers.asArrayRef();
  return list[0] >= 0 && list[1] >= 0 && list[2] >= -1 &&
         llvm::all_of(list.drop_front(3), [](int32_t number) { return number >= 0; });
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr form,
                               ArrayAttr bodies, DenseI64ArrayAttr offloaded,
                               DenseI32ArrayAttr order, ArrayAttr choices, ArrayAttr executions,
                               int64_t enoughArena) {
  auto isNegative = [](int64_t number) { return number < 0; };
  if (!holdsOnly<PlanFormStepAttr>(form))
    return emitError() << "expected 'form' to be a list of #reprise.form attributes";
  if (bodies && !llvm::all_of(bodies, areChoices))
    return emitError() << "expected 'bodies' to be lists of #reprise.choice attributes";
  if (offloaded && llvm::any_of(offloaded.asArrayRef(), isNegative))
    return emitError() << "expected 'offloaded' to be numbers of values, from 0 on";
  if (order && llvm::any_of(order.asArrayRef(), isNegative))
    return emitError() << "expected 'order' to be numbers of ops, from 0 on";
  if (!holdsOnly<PlanChoiceAttr>(choices))
    return emitError() << "expected 'choices' to be a list of #reprise.choice attributes";
  if (choices && executions)
    return emitError() << "expected 'choices' or 'executions', not both";
  if (executions && !llvm::all_of(executions, isExecution))
    return emitError()
           << "expected 'executions' to be lists of an op, a replay, an op behind it or "
              "-1, and replays that are read";
  if (isNegative(enoughArena))
    return emitError() << "expected 'enough_arena' to be a number of bytes, from 0 on";
  return success();
}

bool PlanAttr::has(PlanFormStep step) const {
  return getForm() && llvm::is_contained(getForm(), PlanFormStepAttr::get(getContext(), step));
}
