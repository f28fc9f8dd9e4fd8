// A training step of one transformer layer in bf16. The test of golden hashes reads it in f16, f32 and f64 as well: it
// replaces the one word.
!x = tensor<2x5x24xbf16>
!heads = tensor<2x5x3x8xbf16>
!each = tensor<2x3x5x8xbf16>
!square = tensor<24x3x8xbf16>

func.func private @loss(%tokens: tensor<2x5xi32>, %labels: tensor<2x5xi32>, %table: tensor<11x24xbf16>,
                        %scale: tensor<24xbf16>, %shift: tensor<24xbf16>, %wq: !square, %wk: !square, %wv: !square,
                        %wo: tensor<3x8x24xbf16>) -> tensor<bf16> {
  %embedded = reprise.gather %table[%tokens] : (tensor<11x24xbf16>, tensor<2x5xi32>) -> !x
  %x = reprise.dropout %embedded {rate = 0.125 : f64} : !x
  %sum = reprise.checkpoint {
    %normal, %mean, %rstd = reprise.layer_norm %x, %scale, %shift {epsilon = 1.0e-5 : f64}
        : (!x, tensor<24xbf16>, tensor<24xbf16>) -> (!x, tensor<2x5x!stat>, tensor<2x5x!stat>)
    %q0 = reprise.dot_general %normal, %wq contracting [2] x [0] : (!x, !square) -> !heads
    %k0 = reprise.dot_general %normal, %wk contracting [2] x [0] : (!x, !square) -> !heads
    %v0 = reprise.dot_general %normal, %wv contracting [2] x [0] : (!x, !square) -> !heads
    %q = reprise.transpose %q0 [0, 2, 1, 3] : (!heads) -> !each
    %k = reprise.transpose %k0 [0, 2, 1, 3] : (!heads) -> !each
    %v = reprise.transpose %v0 [0, 2, 1, 3] : (!heads) -> !each
    %out, %lse = reprise.attention %q, %k, %v {causal, rate = 0.25 : f64, scale = 0.35 : f64}
        : (!each, !each, !each) -> (!each, tensor<2x3x5x!stat>)
    %mixed = reprise.dot_general %out, %wo contracting [1, 3] x [0, 1] : (!each, tensor<3x8x24xbf16>) -> !x
    %activated = reprise.gelu %mixed {form = #reprise<gelu_form erf>} : !x
    %dropped = reprise.dropout %activated {rate = 0.1 : f64} : !x
    %residual = reprise.add %x, %dropped : !x
    reprise.yield %residual : !x
  } : !x
  %logits = reprise.dot_general %sum, %table contracting [2] x [1] : (!x, tensor<11x24xbf16>) -> tensor<2x5x11xbf16>
  %losses = reprise.cross_entropy %logits, %labels : (tensor<2x5x11xbf16>, tensor<2x5xi32>) -> tensor<2x5xbf16>
  %mean = reprise.mean %losses dims [0, 1] : (tensor<2x5xbf16>) -> tensor<bf16>
  return %mean : tensor<bf16>
}

func.func @train(
    %tokens: tensor<2x5xi32> {reprise.role = "input", reprise.name = "tokens", reprise.init = #reprise.uniform_int<0, 11>},
    %labels: tensor<2x5xi32> {reprise.role = "input", reprise.name = "labels", reprise.init = #reprise.uniform_int<0, 11>},
    %rate: tensor<bf16> {reprise.role = "input", reprise.name = "learning_rate", reprise.init = #reprise.fill<0.0625>},
    %table: tensor<11x24xbf16> {reprise.role = "parameter", reprise.name = "table", reprise.init = #reprise.normal<0.0, 0.5>},
    %scale: tensor<24xbf16> {reprise.role = "parameter", reprise.name = "scale", reprise.init = #reprise.uniform<0.5, 1.5>},
    %shift: tensor<24xbf16> {reprise.role = "parameter", reprise.name = "shift", reprise.init = #reprise.normal<0.0, 0.1>},
    %wq: !square {reprise.role = "parameter", reprise.name = "query", reprise.init = #reprise.normal<0.0, 0.3>},
    %wk: !square {reprise.role = "parameter", reprise.name = "key", reprise.init = #reprise.normal<0.0, 0.3>},
    %wv: !square {reprise.role = "parameter", reprise.name = "value", reprise.init = #reprise.normal<0.0, 0.3>},
    %wo: tensor<3x8x24xbf16> {reprise.role = "parameter", reprise.name = "out", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (tensor<bf16> {reprise.name = "loss"}, tensor<11x24xbf16> {reprise.name = "table"},
        tensor<24xbf16> {reprise.name = "scale"}, tensor<24xbf16> {reprise.name = "shift"},
        !square {reprise.name = "query"}, !square {reprise.name = "key"}, !square {reprise.name = "value"},
        tensor<3x8x24xbf16> {reprise.name = "out"}) {
  %loss, %g0, %g1, %g2, %g3, %g4, %g5, %g6
      = reprise.value_and_grad @loss(%tokens, %labels, %table, %scale, %shift, %wq, %wk, %wv, %wo) wrt [2, 3, 4, 5, 6, 7, 8]
      : (tensor<2x5xi32>, tensor<2x5xi32>, tensor<11x24xbf16>, tensor<24xbf16>, tensor<24xbf16>, !square, !square, !square,
         tensor<3x8x24xbf16>)
      -> (tensor<bf16>, tensor<11x24xbf16>, tensor<24xbf16>, tensor<24xbf16>, !square, !square, !square, tensor<3x8x24xbf16>)
  %s0 = reprise.mul %g0, %rate : (tensor<11x24xbf16>, tensor<bf16>) -> tensor<11x24xbf16>
  %s1 = reprise.mul %g1, %rate : (tensor<24xbf16>, tensor<bf16>) -> tensor<24xbf16>
  %s2 = reprise.mul %g2, %rate : (tensor<24xbf16>, tensor<bf16>) -> tensor<24xbf16>
  %s3 = reprise.mul %g3, %rate : (!square, tensor<bf16>) -> !square
  %s4 = reprise.mul %g4, %rate : (!square, tensor<bf16>) -> !square
  %s5 = reprise.mul %g5, %rate : (!square, tensor<bf16>) -> !square
  %s6 = reprise.mul %g6, %rate : (tensor<3x8x24xbf16>, tensor<bf16>) -> tensor<3x8x24xbf16>
  %n0 = reprise.sub %table, %s0 : tensor<11x24xbf16>
  %n1 = reprise.sub %scale, %s1 : tensor<24xbf16>
  %n2 = reprise.sub %shift, %s2 : tensor<24xbf16>
  %n3 = reprise.sub %wq, %s3 : !square
  %n4 = reprise.sub %wk, %s4 : !square
  %n5 = reprise.sub %wv, %s5 : !square
  %n6 = reprise.sub %wo, %s6 : tensor<3x8x24xbf16>
  return %loss, %n0, %n1, %n2, %n3, %n4, %n5, %n6
      : tensor<bf16>, tensor<11x24xbf16>, tensor<24xbf16>, tensor<24xbf16>, !square, !square, !square, tensor<3x8x24xbf16>
}
