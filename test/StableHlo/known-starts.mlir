// A start that is computed from a number read again and again: each value is looked at once.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK: reprise.slice %arg0 from [0] to [1]
func.func public @main(%x: tensor<9xf32>) -> tensor<1xf32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.add %0, %0 : tensor<i32>
  %2 = stablehlo.add %1, %1 : tensor<i32>
  %3 = stablehlo.add %2, %2 : tensor<i32>
  %4 = stablehlo.add %3, %3 : tensor<i32>
  %5 = stablehlo.add %4, %4 : tensor<i32>
  %6 = stablehlo.add %5, %5 : tensor<i32>
  %7 = stablehlo.add %6, %6 : tensor<i32>
  %8 = stablehlo.add %7, %7 : tensor<i32>
  %9 = stablehlo.add %8, %8 : tensor<i32>
  %10 = stablehlo.add %9, %9 : tensor<i32>
  %11 = stablehlo.add %10, %10 : tensor<i32>
  %12 = stablehlo.add %11, %11 : tensor<i32>
  %13 = stablehlo.add %12, %12 : tensor<i32>
  %14 = stablehlo.add %13, %13 : tensor<i32>
  %15 = stablehlo.add %14, %14 : tensor<i32>
  %16 = stablehlo.add %15, %15 : tensor<i32>
  %17 = stablehlo.add %16, %16 : tensor<i32>
  %18 = stablehlo.add %17, %17 : tensor<i32>
  %19 = stablehlo.add %18, %18 : tensor<i32>
  %20 = stablehlo.add %19, %19 : tensor<i32>
  %21 = stablehlo.add %20, %20 : tensor<i32>
  %22 = stablehlo.add %21, %21 : tensor<i32>
  %23 = stablehlo.add %22, %22 : tensor<i32>
  %24 = stablehlo.add %23, %23 : tensor<i32>
  %25 = stablehlo.add %24, %24 : tensor<i32>
  %26 = stablehlo.add %25, %25 : tensor<i32>
  %27 = stablehlo.add %26, %26 : tensor<i32>
  %28 = stablehlo.add %27, %27 : tensor<i32>
  %29 = stablehlo.add %28, %28 : tensor<i32>
  %30 = stablehlo.add %29, %29 : tensor<i32>
  %31 = stablehlo.add %30, %30 : tensor<i32>
  %32 = stablehlo.add %31, %31 : tensor<i32>
  %33 = stablehlo.add %32, %32 : tensor<i32>
  %34 = stablehlo.add %33, %33 : tensor<i32>
  %35 = stablehlo.add %34, %34 : tensor<i32>
  %36 = stablehlo.add %35, %35 : tensor<i32>
  %37 = stablehlo.add %36, %36 : tensor<i32>
  %38 = stablehlo.add %37, %37 : tensor<i32>
  %39 = stablehlo.add %38, %38 : tensor<i32>
  %40 = stablehlo.add %39, %39 : tensor<i32>
  %start = stablehlo.dynamic_slice %x, %40, sizes = [1] : (tensor<9xf32>, tensor<i32>) -> tensor<1xf32>
  return %start : tensor<1xf32>
}
