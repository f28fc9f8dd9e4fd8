// A constant from a resource is the constant, read by kernels or returned.
// RUN: rm -rf %t && mkdir %t
// RUN: reprise-compile %s --interpret --output-dir=%t/reference
// RUN: reprise-compile %s -o %t/model.rpb
// RUN: reprise-run %t/model.rpb --output-dir=%t/compiled
// RUN: diff -r %t/reference %t/compiled
// RUN: od -An -tf4 -j128 %t/compiled/sum.npy | FileCheck %s --check-prefix=SUM
// RUN: od -An -tf4 -j128 %t/compiled/resource.npy | FileCheck %s --check-prefix=RESOURCE
// RUN: od -An -tx1 -j128 %t/compiled/flags.npy | FileCheck %s --check-prefix=FLAGS

// SUM: 1.5 4 6.5 9
// RESOURCE: 1 2 3 4
// FLAGS: 01 00 01

func.func @train() -> (tensor<4xf32> {reprise.name = "sum"}, tensor<4xf32> {reprise.name = "resource"},
                       tensor<3xi1> {reprise.name = "flags"}) {
  %resource = reprise.constant dense_resource<numbers> : tensor<4xf32>
  %dense = reprise.constant dense<[0.5, 2.0, 3.5, 5.0]> : tensor<4xf32>
  %flags = reprise.constant dense_resource<flags> : tensor<3xi1>
  %sum = reprise.add %resource, %dense : tensor<4xf32>
  return %sum, %resource, %flags : tensor<4xf32>, tensor<4xf32>, tensor<3xi1>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F000000400000404000008040",
      flags: "0x01000000010001"
    }
  }
#-}
