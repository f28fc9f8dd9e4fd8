// RUN: not reprise-opt %s 2>&1 | FileCheck %s
// The error stands at its place, once, although two processes parse.
// CHECK: syntax-error.mlir:[[#@LINE+2]]:11: error: {{.*}}expected valid '@'-identifier for symbol name
// CHECK-NOT: error:
func.func f() { return }
