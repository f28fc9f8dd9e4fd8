// reprise: an op's work, for planners and reports.
#ifndef REPRISE_INTERFACES_COSTINTERFACE
#define REPRISE_INTERFACES_COSTINTERFACE

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::reprise";
  let methods = [
    InterfaceMethod<[{
      Returns the floating-point operations of one execution. An fma counts two; the default is one per element of the
      results.
    }], "int64_t", "getFlops", (ins), [{}], [{ return ::reprise::countResultElements($_op); }]>
  ];
}

#endif
