// Marks of jax.checkpoint, which stand in the places of ops; branches, barriers and shardings.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

#file1 = loc("a.py":3:7)
#file2 = loc("a.py":4:7)
#dot = loc("jit(loss)/checkpoint/mul"(#file1))
#tanh = loc("jit(loss)/checkpoint/tanh"(#file2))
#single = loc("jit(loss)/checkpoint/exp"(#file1))
#outside = loc("jit(loss)/add"(#file2))
module {
  sdy.mesh @mesh = <["x"=2, "y"=1]> {stablehlo.mesh = {axes = []}}
  // CHECK-LABEL: func.func private @model(
  // CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>, %[[P:[^:]*]]: tensor<i1>)
  func.func public @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
    // Two calls of one function.
    // CHECK-NEXT: reprise.constant
    // CHECK-NEXT: %[[FIRST:.*]] = reprise.checkpoint {
    // CHECK-NEXT:   %[[SQUARE:.*]] = reprise.mul %[[X]], %[[X]]
    // CHECK-NEXT:   %[[TANH:.*]] = reprise.tanh %[[SQUARE]]
    // CHECK-NEXT:   reprise.yield %[[TANH]] : tensor<4xf32>
    // CHECK-NEXT: } : tensor<4xf32>
    %0 = stablehlo.multiply %x, %x : tensor<4xf32> loc(#dot)
    %1 = stablehlo.tanh %0 : tensor<4xf32> loc(#tanh)
    // CHECK-NEXT: %[[SECOND:.*]] = reprise.checkpoint {
    // CHECK:        reprise.yield
    // CHECK-NEXT: }
    %c = stablehlo.constant dense<1.0> : tensor<4xf32> loc(#outside)
    %2 = stablehlo.multiply %1, %1 : tensor<4xf32> loc(#dot)
    %3 = stablehlo.tanh %2 : tensor<4xf32> loc(#tanh)
    // CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[SECOND]], %[[X]]
    %4 = sdy.sharding_constraint %3 <@mesh, [{"x", ?}]> : tensor<4xf32>
    %5, %6 = stablehlo.optimization_barrier %4, %x : tensor<4xf32>, tensor<4xf32>
    %7 = stablehlo.custom_call @Sharding(%6) {backend_config = ""} : (tensor<4xf32>) -> tensor<4xf32>
    %8 = stablehlo.add %5, %7 : tensor<4xf32> loc(#outside)
    // CHECK-NEXT: %[[BITS:.*]] = reprise.bitcast %[[SUM]] : tensor<4xf32> to tensor<4xi32>
    // CHECK-NEXT: reprise.bitcast %[[BITS]] : tensor<4xi32> to tensor<4xf32>
    %stopped = stablehlo.custom_call @reprise.stop_gradient(%8) : (tensor<4xf32>) -> tensor<4xf32>
    // A call that reprise.jax has marked is one, though its places come again.
    // CHECK: reprise.checkpoint {
    // CHECK-NEXT: reprise.exp
    // CHECK-NEXT: reprise.exp
    // CHECK-NEXT: reprise.yield
    %mark = stablehlo.custom_call @reprise.checkpoint(%8) : (tensor<4xf32>) -> tensor<4xf32>
    %once = stablehlo.exponential %mark : tensor<4xf32> loc(#single)
    %twice = stablehlo.exponential %once : tensor<4xf32> loc(#single)
    %read = stablehlo.negate %twice : tensor<4xf32>
    // CHECK: reprise.neg
    // The gradient of a branch that is not taken ends where the branch begins.
    // CHECK: %[[BELOW:.*]] = reprise.compare  lt
    // CHECK: %[[ABOVE:.*]] = reprise.compare  ge
    // CHECK: reprise.or %[[BELOW]], %[[ABOVE]]
    // CHECK: %[[STOPPED:.*]] = reprise.bitcast %{{.*}} : tensor<4xi32> to tensor<4xf32>
    // CHECK-NEXT: %[[LAST:.*]] = reprise.select %{{.*}}, %[[SUM]], %[[STOPPED]]
    // CHECK-NEXT: %[[ONE:.*]] = reprise.neg %[[LAST]]
    // CHECK: %[[IS_ZERO:.*]] = reprise.compare  eq
    // CHECK: %[[FIRST:.*]] = reprise.select %{{.*}}, %[[SUM]], %{{.*}}
    // CHECK-NEXT: %[[ZERO:.*]] = reprise.exp %[[FIRST]]
    // CHECK: %[[EVERYWHERE:.*]] = reprise.broadcast %[[IS_ZERO]]
    // CHECK: %[[RESULT:.*]] = reprise.select %[[EVERYWHERE]], %[[ZERO]], %[[ONE]]
    %9 = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>
    %10 = "stablehlo.case"(%9) ({
      %11 = stablehlo.exponential %8 : tensor<4xf32>
      stablehlo.return %11 : tensor<4xf32>
    }, {
      %11 = stablehlo.negate %8 : tensor<4xf32>
      stablehlo.return %11 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    // CHECK: return %[[RESULT]]
    return %10 : tensor<4xf32>
  }
}
