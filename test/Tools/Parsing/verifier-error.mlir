// RUN: not reprise-opt %s 2>&1 | FileCheck %s
// RUN: reprise-opt %s -mlir-very-unsafe-disable-verifier-on-parsing | FileCheck %s --check-prefix=OFF
// CHECK: verifier-error.mlir:[[#@LINE+4]]:3: error: type of return operand 0 ('f32') doesn't match function result type ('i32')
// CHECK-NOT: error:
// OFF: sym_name = "f"
func.func @f(%a: f32) -> i32 {
  "func.return"(%a) : (f32) -> ()
}
