#w1 = loc("w1")
#w2 = loc("w2")
#x = loc("x")
#b = loc("b")
#s = loc("s")
module @jit_loss {
  sdy.mesh @empty_mesh = <[]>
  sdy.mesh @mesh = <["tp"=2, "batch"=2, "other"=1]>
  func.func public @main(%arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"other"}, {"tp"}]>} loc(#w1), %arg1: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp", ?}p1, {?}]>} loc(#w2), %arg2: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>} loc(#x), %arg3: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>} loc(#b), %arg4: tensor<f32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>} loc(#s)) -> tensor<f32> {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.tanh %0 : tensor<4x8xf32>
    %2 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %bias = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
    %biased = stablehlo.add %2, %bias : tensor<4x6xf32>
    %scale = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %scaled = stablehlo.multiply %biased, %scale : tensor<4x6xf32>
    %3 = stablehlo.tanh %scaled : tensor<4x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}
