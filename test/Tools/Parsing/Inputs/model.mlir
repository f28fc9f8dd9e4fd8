func.func @f(%a: tensor<2x3xf32>, %c: i1) -> tensor<2x3xf32> attributes {
    x = dense<[1, 2, 3]> : tensor<3xi32>, y = "abc", z = [1 : i32, 2.0 : f32]} {
  %0 = arith.addf %a, %a : tensor<2x3xf32>
  %1 = scf.if %c -> tensor<2x3xf32> {
    scf.yield %0 : tensor<2x3xf32>
  } else {
    scf.yield %a : tensor<2x3xf32>
  }
  return %1 : tensor<2x3xf32>
}
