// Elementwise ops, pretty and generic; unsigned integers are signed ones of equal bits.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>, %[[Y:[^:]*]]: tensor<4xf32>, %[[I:[^:]*]]: tensor<4xi32>, %[[U:[^:]*]]: tensor<4xi32>, %[[P:[^:]*]]: tensor<4xi1>, %[[W:[^:]*]]: tensor<4xi64>)
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<4xi32>, %u: tensor<4xui32>, %p: tensor<4xi1>, %w: tensor<4xui64>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: reprise.mul %[[X]], %[[Y]] : tensor<4xf32>
  %0 = stablehlo.multiply %x, %y : tensor<4xf32>
  // CHECK-NEXT: %[[TANH:.*]] = reprise.tanh %[[X]]
  %1 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[ERF:.*]] = reprise.erf %[[TANH]]
  %2 = chlo.erf %1 : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: %[[LESS:.*]] = reprise.compare lt %[[X]], %[[Y]]
  %3 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: reprise.compare ge %[[X]], %[[Y]]
  %4 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[SELECTED:.*]] = reprise.select %[[LESS]], %[[ERF]], %[[Y]]
  %5 = stablehlo.select %3, %2, %y : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: %[[EITHER:.*]] = reprise.or %[[P]], %[[LESS]]
  %6 = stablehlo.add %p, %3 : tensor<4xi1>
  // CHECK-NEXT: reprise.xor %[[I]], %[[I]] : tensor<4xi32>
  %7 = stablehlo.xor %i, %i : tensor<4xi32>
  // CHECK-NEXT: reprise.shift_right %[[U]], %[[U]] : tensor<4xi32>
  %8 = stablehlo.shift_right_logical %u, %u : tensor<4xui32>
  // The order of unsigned numbers is that of numbers with another sign.
  // CHECK-NEXT: %[[SIGN:.*]] = reprise.constant dense<-2147483648> : tensor<4xi32>
  // CHECK-NEXT: %[[LEFT:.*]] = reprise.xor %[[U]], %[[SIGN]]
  // CHECK: reprise.compare gt %[[LEFT]], %{{.*}} : tensor<4xi32>
  %9 = stablehlo.compare GT, %u, %u, UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  // CHECK: %[[WIDE:.*]] = reprise.cast %[[U]] : tensor<4xi32> to tensor<4xi64>
  // CHECK-NEXT: %[[MASK:.*]] = reprise.constant dense<4294967295> : tensor<4xi64>
  // CHECK-NEXT: %[[NUMBER:.*]] = reprise.and %[[WIDE]], %[[MASK]]
  // CHECK-NEXT: reprise.cast %[[NUMBER]] : tensor<4xi64> to tensor<4xf32>
  %10 = stablehlo.convert %u : (tensor<4xui32>) -> tensor<4xf32>
  // CHECK-NEXT: reprise.cast %[[W]] : tensor<4xi64> to tensor<4xi32>
  %11 = stablehlo.convert %w : (tensor<4xui64>) -> tensor<4xui32>
  // CHECK-NEXT: reprise.bitcast %[[U]] : tensor<4xi32> to tensor<4xf32>
  %12 = stablehlo.bitcast_convert %u : (tensor<4xui32>) -> tensor<4xf32>
  // CHECK: reprise.rem %{{.*}}, %{{.*}} : tensor<4xi64>
  // CHECK-NEXT: reprise.cast %{{.*}} : tensor<4xi64> to tensor<4xi32>
  %13 = stablehlo.remainder %u, %u : tensor<4xui32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  // The derivative at 0 is 0.
  // CHECK: reprise.relu %[[X]]
  %14 = stablehlo.maximum %x, %zero : tensor<4xf32>
  %low = stablehlo.constant dense<-1.0> : tensor<f32>
  %high = stablehlo.constant dense<2.5> : tensor<f32>
  // CHECK: reprise.clamp %[[X]] in{{ ?}}[-1.000000e+00 : f64, 2.500000e+00 : f64]
  %15 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: reprise.constant dense<[1, -1, 0, 2]> : tensor<4xi32>
  %16 = stablehlo.constant dense<[1, 4294967295, 0, 2]> : tensor<4xui32>
  // CHECK: reprise.constant dense<0xFF800000> : tensor<4xf32>
  %17 = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  // CHECK: reprise.not %[[P]]
  %18 = stablehlo.not %p : tensor<4xi1>
  // Equal numbers share the derivative.
  // CHECK: %[[LARGEST:.*]] = reprise.maximum %[[X]], %[[Y]]
  // CHECK: %[[TIE:.*]] = reprise.compare eq %[[X]], %[[Y]]
  // CHECK: %[[SHARED:.*]] = reprise.select %[[TIE]], %{{.*}}, %[[LARGEST]]
  %19 = stablehlo.maximum %x, %y : tensor<4xf32>
  // So do those of logaddexp.
  %20 = stablehlo.subtract %x, %y : tensor<4xf32>
  %21 = stablehlo.abs %20 : tensor<4xf32>
  %22 = stablehlo.negate %21 : tensor<4xf32>
  %23 = stablehlo.exponential %22 : tensor<4xf32>
  %24 = stablehlo.log_plus_one %23 : tensor<4xf32>
  // CHECK: %[[SUM:.*]] = reprise.add %[[SHARED]], %{{.*}}
  // CHECK: %[[LOG2:.*]] = reprise.constant dense<0.693147182>
  // CHECK: %[[AT:.*]] = reprise.add %{{.*}}, %[[LOG2]]
  // CHECK: reprise.compare eq %[[X]], %[[Y]]
  // CHECK-NEXT: reprise.select %{{.*}}, %[[AT]], %[[SUM]]
  %25 = stablehlo.add %19, %24 : tensor<4xf32>
  // As 1 / (1 + exp(-x)) a sigmoid has no derivative where it is 0.
  %26 = stablehlo.negate %x : tensor<4xf32>
  %27 = stablehlo.exponential %26 : tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %28 = stablehlo.add %one, %27 : tensor<4xf32>
  // CHECK: reprise.sigmoid %[[X]]
  %29 = stablehlo.divide %one, %28 : tensor<4xf32>
  // CHECK: return %[[SELECTED]], %[[EITHER]]
  return %5, %6 : tensor<4xf32>, tensor<4xi1>
}
