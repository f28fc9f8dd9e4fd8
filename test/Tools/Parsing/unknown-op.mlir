// RUN: not reprise-opt %s 2>&1 | FileCheck %s
// RUN: reprise-opt %s --allow-unregistered-dialect -verify-diagnostics
// CHECK: unknown-op.mlir:[[#@LINE+2]]:15: error: operation being parsed with an unregistered dialect
// CHECK-NOT: error:
"nobody.knows"() : () -> ()
