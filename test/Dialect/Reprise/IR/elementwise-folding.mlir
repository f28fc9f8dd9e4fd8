// Folds that are exact for every IEEE input happen, all others do not.
// RUN: reprise-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @identities(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<4xi32>
func.func @identities(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %minus_zero = reprise.constant dense<-0.0> : tensor<4xf32>
  %zero = reprise.constant dense<0.0> : tensor<4xf32>
  %one = reprise.constant dense<1.0> : tensor<4xf32>
  %no = reprise.constant dense<0> : tensor<4xi32>
  %0 = reprise.add %x, %minus_zero : tensor<4xf32>
  %1 = reprise.sub %x, %zero : tensor<4xf32>
  %2 = reprise.mul %one, %x : tensor<4xf32>
  %3 = reprise.div %x, %one : tensor<4xf32>
  %negative = reprise.neg %x : tensor<4xf32>
  %4 = reprise.neg %negative : tensor<4xf32>
  %5 = reprise.cast %x : tensor<4xf32> to tensor<4xf32>
  %6 = reprise.add %no, %n : tensor<4xi32>
  %7 = reprise.sub %n, %no : tensor<4xi32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[N]], %[[N]]
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// x + 0 is not x for x = -0, x - -0 neither; x * 0 and 0 / x are not 0 for infinities and NaN; x - x is not 0, x / x is
// not 1; x / c is not x * (1 / c); max(x, x) is kept although it is x but for a payload.
// CHECK-LABEL: func @no_identities(
func.func @no_identities(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  %zero = reprise.constant dense<0.0> : tensor<4xf32>
  %minus_zero = reprise.constant dense<-0.0> : tensor<4xf32>
  %two = reprise.constant dense<2.0> : tensor<4xf32>
  // CHECK: reprise.add
  %0 = reprise.add %x, %zero : tensor<4xf32>
  // CHECK: reprise.sub
  %1 = reprise.sub %x, %minus_zero : tensor<4xf32>
  // CHECK: reprise.mul
  %2 = reprise.mul %x, %zero : tensor<4xf32>
  // CHECK: reprise.div
  %3 = reprise.div %zero, %x : tensor<4xf32>
  // CHECK: reprise.sub
  %4 = reprise.sub %x, %x : tensor<4xf32>
  // CHECK: reprise.div
  %5 = reprise.div %x, %x : tensor<4xf32>
  // CHECK: reprise.div
  %6 = reprise.div %x, %two : tensor<4xf32>
  // CHECK: reprise.compare eq
  %7 = reprise.compare eq %x, %x : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// An identity that broadcasts changes the type.
// CHECK-LABEL: func @broadcasting_identity(
func.func @broadcasting_identity(%x: tensor<1xf32>) -> tensor<4xf32> {
  %one = reprise.constant dense<1.0> : tensor<4xf32>
  // CHECK: reprise.mul
  %0 = reprise.mul %x, %one : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @relu(
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = reprise.relu
  %0 = reprise.relu %x : tensor<4xf32>
  %1 = reprise.relu %0 : tensor<4xf32>
  // CHECK-NEXT: return %[[R]]
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @select(
// CHECK-SAME: %[[B:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
func.func @select(%b: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = reprise.constant dense<true> : tensor<4xi1>
  %false = reprise.constant dense<false> : tensor<4xi1>
  %0 = reprise.select %b, %x, %x : tensor<4xi1>, tensor<4xf32>
  %1 = reprise.select %true, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = reprise.select %false, %x, %y : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[Y]]
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A replay is what it is: nothing folds it, nothing looks through it.
// CHECK-LABEL: func @replays(
func.func @replays(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %minus_zero = reprise.constant dense<-0.0> : tensor<4xf32>
  %b = reprise.constant dense<true> : tensor<4xi1>
  // CHECK: reprise.add {{.*}} {replay = 1 : i64}
  %0 = reprise.add %x, %minus_zero {replay = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: reprise.neg {{.*}} {replay = 1 : i64}
  %n = reprise.neg %x {replay = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: reprise.neg
  %1 = reprise.neg %n : tensor<4xf32>
  // CHECK-NEXT: reprise.relu {{.*}} {replay = 1 : i64}
  %r = reprise.relu %x {replay = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: reprise.relu
  %2 = reprise.relu %r : tensor<4xf32>
  // CHECK-NEXT: reprise.select {{.*}} {replay = 1 : i64}
  %3 = reprise.select %b, %x, %x {replay = 1 : i64} : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: reprise.cast {{.*}} {replay = 1 : i64}
  %4 = reprise.cast %x {replay = 1 : i64} : tensor<4xf32> to tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Constants fold, correctly rounded in their own type; what would be NaN does not.
// CHECK-LABEL: func @constants(
func.func @constants() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<bf16>, tensor<f32>) {
  %one = reprise.constant dense<1.0> : tensor<f32>
  %three = reprise.constant dense<3.0> : tensor<f32>
  %zero = reprise.constant dense<0.0> : tensor<f32>
  %half = reprise.constant dense<1.0> : tensor<bf16>
  %step = reprise.constant dense<0.00390625> : tensor<bf16>
  // CHECK-DAG: %[[THIRD:.*]] = reprise.constant dense<0.333333343> : tensor<f32>
  %0 = reprise.div %one, %three : tensor<f32>
  // CHECK-DAG: %[[FOUR:.*]] = reprise.constant dense<4.000000e+00> : tensor<f32>
  %1 = reprise.add %one, %three : tensor<f32>
  // CHECK-DAG: %[[MINUS:.*]] = reprise.constant dense<-2.000000e+00> : tensor<f32>
  %2 = reprise.sub %one, %three : tensor<f32>
  // Halfway between two values of bf16: to even.
  // CHECK-DAG: %[[ONE:.*]] = reprise.constant dense<1.000000e+00> : tensor<bf16>
  %3 = reprise.add %half, %step : tensor<bf16>
  // CHECK: %[[NAN:.*]] = reprise.div
  %4 = reprise.div %zero, %zero : tensor<f32>
  // CHECK-NEXT: return %[[THIRD]], %[[FOUR]], %[[MINUS]], %[[ONE]], %[[NAN]]
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<bf16>, tensor<f32>
}
