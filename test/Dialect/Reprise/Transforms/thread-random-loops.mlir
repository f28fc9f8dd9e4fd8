// Iteration k of a loop draws k times the op's words later, row-major over all loops; the next offset comes after all.
// RUN: reprise-opt %s --reprise-import="entry=f" --reprise-thread-random --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @f(
// CHECK-SAME: %[[SEED:[^:]*]]: tensor<i64> {reprise.name = "seed", reprise.role = "seed"}, %[[OFFSET:[^:]*]]: tensor<i64>
func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK: %[[WORDS:.*]] = reprise.constant dense<8> : tensor<6xi64>
  // CHECK: %[[K:.*]] = reprise.iota dim 0 : tensor<6xi64>
  // CHECK: %[[MOVED:.*]] = reprise.mul %[[K]], %[[WORDS]]
  // CHECK: %[[START:.*]] = reprise.broadcast %[[OFFSET]] dims []
  // CHECK: %[[FLAT:.*]] = reprise.add %[[START]], %[[MOVED]]
  // CHECK: %[[STACK:.*]] = reprise.reshape %[[FLAT]] : (tensor<6xi64>) -> tensor<2x3xi64>
  // CHECK: reprise.dropout %{{.*}} seed %[[SEED]] offset %[[OFFSET]] {{.*}}stream = 0
  %0 = reprise.dropout %x {rate = 0.5 : f64} : tensor<5xf32>
  // CHECK: reprise.loop 2 (%{{.*}}) over (%[[ROW:.*]] = %[[STACK]])
  %1 = reprise.loop 2 (%c = %0) : (tensor<5xf32>) -> tensor<5xf32> {
    // CHECK: reprise.loop 3 (%{{.*}}) over (%[[OWN:.*]] = %[[ROW]])
    %2 = reprise.loop 3 (%d = %c) : (tensor<5xf32>) -> tensor<5xf32> {
      // One stream for all iterations.
      // CHECK: reprise.dropout %{{.*}} seed %[[SEED]] offset %[[OWN]] {{.*}}stream = 1
      %3 = reprise.dropout %d {rate = 0.5 : f64} : tensor<5xf32>
      // CHECK: reprise.dropout %{{.*}} seed %[[SEED]] offset %[[OWN]] {{.*}}stream = 2
      %4 = reprise.dropout %3 {rate = 0.5 : f64} : tensor<5xf32>
      reprise.yield %4 : tensor<5xf32>
    }
    reprise.yield %2 : tensor<5xf32>
  }
  // Eight words in each of six iterations.
  // CHECK: %[[COUNT:.*]] = reprise.constant dense<48> : tensor<i64>
  // CHECK: %[[NEXT:.*]] = reprise.add %[[OFFSET]], %[[COUNT]]
  // CHECK: return %{{.*}}, %[[NEXT]]
  return %1 : tensor<5xf32>
}

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = reprise.loop 1099511627776 (%c = %x) : (tensor<f32>) -> tensor<f32> {
    // expected-error@+1 {{the loops around the op run it more than 2^31 times}}
    %1 = reprise.exp %c : tensor<f32>
    reprise.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
