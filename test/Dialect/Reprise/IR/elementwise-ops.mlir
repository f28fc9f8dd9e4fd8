// Elementwise ops read back as they were written, from text, generic text and bytecode.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @unary(
func.func @unary(%x: tensor<4x3xf32>, %n: tensor<4xi64>) {
  // CHECK-NEXT: reprise.neg %{{.*}} : tensor<4x3xf32>
  %0 = reprise.neg %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.neg %{{.*}} : tensor<4xi64>
  %1 = reprise.neg %n : tensor<4xi64>
  // CHECK-NEXT: reprise.abs %{{.*}} : tensor<4x3xf32>
  %2 = reprise.abs %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.exp %{{.*}} : tensor<4x3xf32>
  %3 = reprise.exp %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.log %{{.*}} : tensor<4x3xf32>
  %4 = reprise.log %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.sqrt %{{.*}} : tensor<4x3xf32>
  %5 = reprise.sqrt %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.rsqrt %{{.*}} : tensor<4x3xf32>
  %6 = reprise.rsqrt %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.tanh %{{.*}} : tensor<4x3xf32>
  %7 = reprise.tanh %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.erf %{{.*}} : tensor<4x3xf32>
  %8 = reprise.erf %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.sigmoid %{{.*}} : tensor<4x3xf32>
  %9 = reprise.sigmoid %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.silu %{{.*}} : tensor<4x3xf32>
  %10 = reprise.silu %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.relu %{{.*}} : tensor<4x3xf32>
  %11 = reprise.relu %x : tensor<4x3xf32>
  // The default form is not printed.
  // CHECK-NEXT: reprise.gelu %{{[^ ]*}} : tensor<4x3xf32>
  %12 = reprise.gelu %x {form = #reprise<gelu_form erf>} : tensor<4x3xf32>
  // CHECK-NEXT: reprise.gelu %{{.*}} {form = #reprise<gelu_form tanh>} : tensor<4x3xf32>
  %13 = reprise.gelu %x {form = #reprise<gelu_form tanh>} : tensor<4x3xf32>
  return
}

// CHECK-LABEL: func @more(
func.func @more(%x: tensor<4x3xf32>, %y: tensor<3xf32>, %b: tensor<4xi1>) {
  // CHECK-NEXT: reprise.sin %{{.*}} : tensor<4x3xf32>
  %0 = reprise.sin %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.cos %{{.*}} : tensor<4x3xf32>
  %1 = reprise.cos %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.floor %{{.*}} : tensor<4x3xf32>
  %2 = reprise.floor %x : tensor<4x3xf32>
  // CHECK-NEXT: reprise.clamp %{{.*}} in[-1.000000e+00 : f64, 5.000000e-01 : f64] : tensor<4x3xf32>
  %3 = reprise.clamp %x in [-1.0 : f64, 0.5 : f64] : tensor<4x3xf32>
  // CHECK-NEXT: reprise.pow %{{.*}}, %{{.*}} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %4 = reprise.pow %x, %y : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: reprise.not %{{.*}} : tensor<4xi1>
  %5 = reprise.not %b : tensor<4xi1>
  // CHECK-NEXT: reprise.and %{{.*}}, %{{.*}} : tensor<4xi1>
  %6 = reprise.and %b, %5 : tensor<4xi1>
  // CHECK-NEXT: reprise.or %{{.*}}, %{{.*}} : tensor<4xi1>
  %7 = reprise.or %b, %5 : tensor<4xi1>
  // CHECK-NEXT: reprise.xor %{{.*}}, %{{.*}} : tensor<4xi1>
  %8 = reprise.xor %b, %5 : tensor<4xi1>
  // CHECK-NEXT: reprise.bitcast %{{.*}} : tensor<3xf32> to tensor<3xi32>
  %9 = reprise.bitcast %y : tensor<3xf32> to tensor<3xi32>
  // CHECK-NEXT: reprise.shift_left %{{.*}}, %{{.*}} : tensor<3xi32>
  %10 = reprise.shift_left %9, %9 : tensor<3xi32>
  // CHECK-NEXT: reprise.shift_right %{{.*}}, %{{.*}} : tensor<3xi32>
  %11 = reprise.shift_right %9, %10 : tensor<3xi32>
  return
}

// CHECK-LABEL: func @types(
func.func @types(%a: tensor<f64>, %b: tensor<2xbf16>, %c: tensor<0x5xf16>, %d: tensor<1xi32>) {
  // CHECK-NEXT: reprise.exp %{{.*}} : tensor<f64>
  %0 = reprise.exp %a : tensor<f64>
  // CHECK-NEXT: reprise.exp %{{.*}} : tensor<2xbf16>
  %1 = reprise.exp %b : tensor<2xbf16>
  // CHECK-NEXT: reprise.exp %{{.*}} : tensor<0x5xf16>
  %2 = reprise.exp %c : tensor<0x5xf16>
  // CHECK-NEXT: reprise.abs %{{.*}} : tensor<1xi32>
  %3 = reprise.abs %d : tensor<1xi32>
  return
}

// CHECK-LABEL: func @binary(
func.func @binary(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>, %n: tensor<4xi32>) {
  // CHECK-NEXT: reprise.add %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %0 = reprise.add %x, %y : tensor<4x3xf32>
  // CHECK-NEXT: reprise.sub %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %1 = reprise.sub %x, %y : tensor<4x3xf32>
  // CHECK-NEXT: reprise.mul %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %2 = reprise.mul %x, %y : tensor<4x3xf32>
  // CHECK-NEXT: reprise.div %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %3 = reprise.div %x, %y : tensor<4x3xf32>
  // CHECK-NEXT: reprise.rem %{{.*}}, %{{.*}} : tensor<4xi32>
  %4 = reprise.rem %n, %n : tensor<4xi32>
  // CHECK-NEXT: reprise.maximum %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %5 = reprise.maximum %x, %y : tensor<4x3xf32>
  // CHECK-NEXT: reprise.minimum %{{.*}}, %{{.*}} : tensor<4xi32>
  %6 = reprise.minimum %n, %n : tensor<4xi32>
  return
}

// CHECK-LABEL: func @broadcasting(
func.func @broadcasting(%x: tensor<4x1xf32>, %y: tensor<3xf32>, %z: tensor<f32>) {
  // CHECK-NEXT: reprise.add %{{.*}}, %{{.*}} : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %0 = reprise.add %x, %y : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: reprise.mul %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = reprise.mul %z, %x : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: reprise.compare lt %{{.*}}, %{{.*}} : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  %2 = reprise.compare lt %x, %y : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  return
}

// CHECK-LABEL: func @choice(
func.func @choice(%x: tensor<4xf32>, %y: tensor<4xf32>, %b: tensor<4xi1>) {
  // CHECK-NEXT: reprise.compare eq %{{.*}}, %{{.*}} : tensor<4xf32>
  %0 = reprise.compare eq %x, %y : tensor<4xf32>
  // CHECK-NEXT: reprise.compare ne %{{.*}}, %{{.*}} : tensor<4xf32>
  %1 = reprise.compare ne %x, %y : tensor<4xf32>
  // CHECK-NEXT: reprise.compare le %{{.*}}, %{{.*}} : tensor<4xf32>
  %2 = reprise.compare le %x, %y : tensor<4xf32>
  // CHECK-NEXT: reprise.compare gt %{{.*}}, %{{.*}} : tensor<4xf32>
  %3 = reprise.compare gt %x, %y : tensor<4xf32>
  // CHECK-NEXT: reprise.compare ge %{{.*}}, %{{.*}} : tensor<4xi1>
  %4 = reprise.compare ge %b, %b : tensor<4xi1>
  // CHECK-NEXT: reprise.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %5 = reprise.select %0, %x, %y : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: reprise.cast %{{.*}} : tensor<4xf32> to tensor<4xbf16>
  %6 = reprise.cast %x : tensor<4xf32> to tensor<4xbf16>
  // CHECK-NEXT: reprise.cast %{{.*}} : tensor<4xi1> to tensor<4xi64>
  %7 = reprise.cast %b : tensor<4xi1> to tensor<4xi64>
  return
}

// Attributes of the phases stay on every op.
// CHECK-LABEL: func @attributes(
func.func @attributes(%x: tensor<4xf32>) {
  // CHECK-NEXT: reprise.exp %{{.*}} {replay = 2 : i64} : tensor<4xf32>
  %0 = reprise.exp %x {replay = 2 : i64} : tensor<4xf32>
  // CHECK-NEXT: reprise.exp %{{.*}} {reprise.block = array<i64: 1, 2>, reprise.label = #reprise.label<must_save>, reprise.rule = "op"} : tensor<4xf32>
  %1 = reprise.exp %x {reprise.label = #reprise.label<must_save>, reprise.rule = "op", reprise.block = array<i64: 1, 2>} : tensor<4xf32>
  // CHECK-NEXT: reprise.log {{.*}}<prefer_save>
  %2 = reprise.log %x {reprise.label = #reprise.label<prefer_save>} : tensor<4xf32>
  // CHECK-NEXT: reprise.log {{.*}}<prefer_recompute>
  %3 = reprise.log %x {reprise.label = #reprise.label<prefer_recompute>} : tensor<4xf32>
  // CHECK-NEXT: reprise.log {{.*}}<must_recompute>
  %4 = reprise.log %x {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
  // CHECK-NEXT: reprise.log {{.*}}<must_offload>
  %5 = reprise.log %x {reprise.label = #reprise.label<must_offload>} : tensor<4xf32>
  // CHECK-NEXT: reprise.log {{.*}}<prefer_offload>
  %6 = reprise.log %x {reprise.label = #reprise.label<prefer_offload>} : tensor<4xf32>
  return
}
