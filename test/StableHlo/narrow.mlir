// Integers of 8 and 16 bits are numbers in i32, and what may leave their range is wrapped.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xi32>, %[[Y:[^:]*]]: tensor<4xi32>, %[[F:[^:]*]]: tensor<4xf32>)
func.func public @main(%x: tensor<4xi8>, %y: tensor<4xui16>, %f: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi1>) {
  // CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[X]], %[[X]] : tensor<4xi32>
  // CHECK-NEXT: %[[ONES:.*]] = reprise.constant dense<255> : tensor<4xi32>
  // CHECK-NEXT: %[[LOW:.*]] = reprise.and %[[SUM]], %[[ONES]]
  // CHECK-NEXT: %[[SIGN:.*]] = reprise.constant dense<128>
  // CHECK-NEXT: %[[MOVED:.*]] = reprise.xor %[[LOW]], %[[SIGN]]
  // CHECK: reprise.sub %[[MOVED]], %{{.*}}
  %0 = stablehlo.add %x, %x : tensor<4xi8>
  // CHECK-NEXT: %[[PRODUCT:.*]] = reprise.mul %[[Y]], %[[Y]]
  // CHECK-NEXT: %[[ONES:.*]] = reprise.constant dense<65535>
  // CHECK-NEXT: %[[WRAPPED:.*]] = reprise.and %[[PRODUCT]], %[[ONES]]
  %1 = stablehlo.multiply %y, %y : tensor<4xui16>
  // The order is that of the numbers.
  // CHECK-NEXT: %[[LESS:.*]] = reprise.compare lt %[[WRAPPED]], %[[Y]]
  %2 = stablehlo.compare LT, %1, %y, UNSIGNED : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  // CHECK-NEXT: reprise.constant dense<-56> : tensor<4xi32>
  %3 = stablehlo.constant dense<200> : tensor<4xi8>
  // CHECK-NEXT: reprise.constant dense<60000> : tensor<4xi32>
  %4 = stablehlo.constant dense<60000> : tensor<4xui16>
  // CHECK-NEXT: reprise.cast %[[F]] : tensor<4xf32> to tensor<4xi32>
  // CHECK: reprise.maximum
  // CHECK: reprise.minimum
  %5 = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xi8>
  // CHECK: %[[BITS:.*]] = reprise.and %[[X]], %{{.*}}
  // CHECK: reprise.shift_right %[[BITS]], %[[X]]
  %6 = stablehlo.shift_right_logical %x, %x : tensor<4xi8>
  return %5, %2 : tensor<4xi8>, tensor<4xi1>
}
