// The code of a kernel follows from the nest and its schedule.
// RUN: reprise-opt %s --exec-emit-nests=target=cpu:x86-64-v3 | FileCheck %s
// RUN: reprise-opt %s --exec-emit-nests="target=cpu:x86-64-v3 lower" | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=LLVM

// Two whole vectors and a masked one of 3 elements.
// CHECK-LABEL: llvm.func @vectors(
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK-NEXT: math.sqrt {{.*}} : vector<8xf32>
// CHECK: llvm.store
// CHECK: llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK: llvm.intr.masked.store
// CHECK-LABEL: llvm.func @scalars(
// LLVM-LABEL: define void @vectors(
// LLVM: load <8 x float>
// LLVM: call <8 x float> @llvm.sqrt.v8f32
// LLVM: call <8 x float> @llvm.masked.load.v8f32
nest.program @vectors elements 19 shared 0 {
  nest.kernel columns(%j = 19) buffers(%x = input 0, %y = output 0) schedule <width = 8, rows = 1, columns = 19> {
    %0 = nest.read %x[%j] : tensor<f32>
    %1 = reprise.sqrt %0 : tensor<f32>
    nest.store elements %1, %y : tensor<f32>
  }
}

// Lanes that would take different branches are computed one by one, and a branch alone reads.
// CHECK-NOT: vector
// CHECK: arith.cmpi ult
// CHECK: scf.if {{.*}} -> (f32)
// CHECK: arith.divui
// CHECK: llvm.load {{.*}} -> f32
// CHECK: } else {
// CHECK-NOT: llvm.load
// CHECK: llvm.store
nest.program @scalars elements 16 shared 0 {
  nest.kernel columns(%j = 16) buffers(%x = input 0, %y = output 0) {
    %q = nest.quotient[%j] by 2 below 8
    %0 = nest.read %x[%q] : tensor<f32>
    %1 = reprise.constant dense<1.0> : tensor<f32>
    %2 = nest.choose %0 if[%j] in 0 to 16 step 2 else %1 : tensor<f32>
    nest.store elements %2, %y : tensor<f32>
  }
}
