// reprise: ops that draw random words.
#ifndef REPRISE_INTERFACES_RANDOMINTERFACE
#define REPRISE_INTERFACES_RANDOMINTERFACE

include "mlir/IR/OpBase.td"

def RandomOpInterface : OpInterface<"RandomOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    An op that draws Philox words. Before the `random` phase it has no seed and no stream and counts as a write. After
    the phase the op is pure, and a clone of it draws the same words. Element i (row-major in the global tensor) reads
    word offset + i of (seed, stream).
  }];
  let methods = [
    InterfaceMethod<"Returns true if the op draws (attention without dropout does not).", "bool", "draws", (ins), [{}],
      [{ return true; }]>,
    InterfaceMethod<"Returns the seed, or null before the random phase.", "::mlir::Value", "getSeedOperand", (ins),
      [{}], [{ return $_op.getSeed(); }]>,
    InterfaceMethod<"Returns the offset, or null before the random phase.", "::mlir::Value", "getOffsetOperand", (ins),
      [{}], [{ return $_op.getOffset(); }]>,
    InterfaceMethod<"Returns the origin (one index per dimension of the global tensor), or null for zeros.",
      "::mlir::Value", "getOriginOperand", (ins), [{}], [{ return $_op.getOrigin(); }]>,
    InterfaceMethod<"Threads seed and offset into the op.", "void", "threadState",
      (ins "::mlir::Value":$seed, "::mlir::Value":$offset), [{}], [{
        $_op.getSeedMutable().assign(seed);
        $_op.getOffsetMutable().assign(offset);
        if (!$_op.getGlobalShape())
          $_op.setGlobalShape($_op.getDrawnShape());
      }]>,
    InterfaceMethod<"Takes seed, stream and window away.", "void", "dropState", (ins), [{}], [{
        $_op.getSeedMutable().clear();
        $_op.getOffsetMutable().clear();
        $_op.getOriginMutable().clear();
        $_op.removeStreamAttr();
        $_op.removeGlobalShapeAttr();
      }]>,
    InterfaceMethod<"Numbers the op's stream.", "void", "setStreamNumber", (ins "int64_t":$stream), [{}],
      [{ $_op.setStream(stream); }]>,
    InterfaceMethod<"Makes the op draw a window of a global tensor.", "void", "setWindow",
      (ins "::mlir::Value":$origin, "::mlir::DenseI64ArrayAttr":$shape), [{}], [{
        $_op.getOriginMutable().assign(origin);
        $_op.setGlobalShapeAttr(shape);
      }]>,
    InterfaceMethod<"Returns the shape of the tensor of words that this op draws.", "::llvm::SmallVector<int64_t>",
      "getDrawnShape", (ins), [{}], [{
        return ::llvm::to_vector(::llvm::cast<::mlir::ShapedType>($_op->getResult(0).getType()).getShape());
      }]>,
    InterfaceMethod<"Returns the shape of the global tensor that the drawn tensor is a window of.",
      "::llvm::SmallVector<int64_t>", "getDrawnGlobalShape", (ins), [{}], [{
        if (auto shape = $_op.getGlobalShape())
          return ::llvm::to_vector(*shape);
        return $_op.getDrawnShape();
      }]>,
    InterfaceMethod<"Returns the stream number, or none before the random phase.", "::std::optional<int64_t>",
      "getStreamNumber", (ins), [{}], [{ return $_op.getStream(); }]>
  ];
}

#endif
