// Normalizations of images and rows; attention with groups of heads, rotary positions, bias and mask: values and
// gradients in bf16. The test of golden hashes reads it in f16, f32 and f64 as well: it replaces the one word.
!x = tensor<3x8x5x7xbf16>
!channels = tensor<8xbf16>
!q = tensor<2x6x9x10xbf16>
!k = tensor<2x3x11x10xbf16>

func.func private @image_loss(%x: !x, %w: !channels, %b: !channels, %row: tensor<7xbf16>) -> tensor<bf16> {
  %normal, %mean, %variance = reprise.batch_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
      : (!x, !channels, !channels) -> (!x, tensor<8x!stat>, tensor<8x!stat>)
  %active = reprise.relu %normal : !x
  %sum = reprise.add %active, %x : !x
  %grouped, %means, %rstds = reprise.group_norm %sum, %b, %w groups 4 {epsilon = 1.0e-5 : f64}
      : (!x, !channels, !channels) -> (!x, tensor<3x4x!stat>, tensor<3x4x!stat>)
  %fixed = reprise.batch_norm_inference %grouped, %w, %b, %mean, %variance {epsilon = 1.0e-5 : f64}
      : (!x, !channels, !channels, tensor<8x!stat>, tensor<8x!stat>) -> !x
  %rows, %rstd = reprise.rms_norm %fixed, %row {epsilon = 1.0e-5 : f64} : (!x, tensor<7xbf16>) -> (!x, tensor<3x8x5x!stat>)
  %square = reprise.mul %rows, %sum : !x
  %loss = reprise.mean %square dims [0, 1, 2, 3] : (!x) -> tensor<bf16>
  return %loss : tensor<bf16>
}

func.func @norms(
    %x: !x {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.5, 2.0>},
    %w: !channels {reprise.role = "input", reprise.name = "weight", reprise.init = #reprise.uniform<0.5, 1.5>},
    %b: !channels {reprise.role = "input", reprise.name = "bias", reprise.init = #reprise.normal<0.0, 0.5>},
    %row: tensor<7xbf16> {reprise.role = "input", reprise.name = "row", reprise.init = #reprise.uniform<0.5, 1.5>})
    -> (tensor<bf16> {reprise.name = "loss"}, !x {reprise.name = "dx"}, !channels {reprise.name = "dweight"},
        !channels {reprise.name = "dbias"}, tensor<7xbf16> {reprise.name = "drow"}) {
  %loss, %dx, %dw, %db, %drow = reprise.value_and_grad @image_loss(%x, %w, %b, %row) wrt [0, 1, 2, 3]
      : (!x, !channels, !channels, tensor<7xbf16>) -> (tensor<bf16>, !x, !channels, !channels, tensor<7xbf16>)
  return %loss, %dx, %dw, %db, %drow : tensor<bf16>, !x, !channels, !channels, tensor<7xbf16>
}

func.func private @attention_loss(%q0: !q, %k0: !k, %v: !k, %bias: tensor<1x6x9x11x!stat>, %mask: tensor<2x1x1x11xi1>,
                                  %cosine: tensor<11x5x!stat>, %sine: tensor<11x5x!stat>) -> tensor<bf16> {
  %near_cosine = reprise.slice %cosine from [0, 0] to [9, 5] by [1, 1] : (tensor<11x5x!stat>) -> tensor<9x5x!stat>
  %near_sine = reprise.slice %sine from [0, 0] to [9, 5] by [1, 1] : (tensor<11x5x!stat>) -> tensor<9x5x!stat>
  %q = reprise.rotary %q0, %near_cosine, %near_sine : !q, tensor<9x5x!stat>
  %k = reprise.rotary %k0, %cosine, %sine : !k, tensor<11x5x!stat>
  %out, %lse = reprise.attention %q, %k, %v bias %bias : tensor<1x6x9x11x!stat> mask %mask : tensor<2x1x1x11xi1>
      {rate = 0.25 : f64, scale = 0.3 : f64} : (!q, !k, !k) -> (!q, tensor<2x6x9x!stat>)
  %again, %other = reprise.attention %out, %k, %v {causal, scale = 0.3 : f64} : (!q, !k, !k) -> (!q, tensor<2x6x9x!stat>)
  %square = reprise.mul %again, %q : !q
  %loss = reprise.mean %square dims [0, 1, 2, 3] : (!q) -> tensor<bf16>
  return %loss : tensor<bf16>
}

func.func @scores(
    %q: !q {reprise.role = "input", reprise.name = "q", reprise.init = #reprise.normal<0.0, 1.0>},
    %k: !k {reprise.role = "input", reprise.name = "k", reprise.init = #reprise.normal<0.0, 1.0>},
    %v: !k {reprise.role = "input", reprise.name = "v", reprise.init = #reprise.normal<0.0, 1.0>},
    %bias: tensor<1x6x9x11x!stat> {reprise.role = "input", reprise.name = "bias", reprise.init = #reprise.normal<0.0, 1.0>},
    %kinds: tensor<2x1x1x11xi32> {reprise.role = "input", reprise.name = "kinds", reprise.init = #reprise.uniform_int<0, 3>},
    %cosine: tensor<11x5x!stat> {reprise.role = "input", reprise.name = "cosine", reprise.init = #reprise.uniform<-1.0, 1.0>},
    %sine: tensor<11x5x!stat> {reprise.role = "input", reprise.name = "sine", reprise.init = #reprise.uniform<-1.0, 1.0>})
    -> (tensor<bf16> {reprise.name = "loss"}, !q {reprise.name = "dq"}, !k {reprise.name = "dk"}, !k {reprise.name = "dv"},
        tensor<1x6x9x11x!stat> {reprise.name = "dbias"}) {
  %zero = reprise.constant dense<0> : tensor<2x1x1x11xi32>
  %mask = reprise.compare ne %kinds, %zero : tensor<2x1x1x11xi32>
  %loss, %dq, %dk, %dv, %db = reprise.value_and_grad @attention_loss(%q, %k, %v, %bias, %mask, %cosine, %sine) wrt [0, 1, 2, 3]
      : (!q, !k, !k, tensor<1x6x9x11x!stat>, tensor<2x1x1x11xi1>, tensor<11x5x!stat>, tensor<11x5x!stat>)
      -> (tensor<bf16>, !q, !k, !k, tensor<1x6x9x11x!stat>)
  return %loss, %dq, %dk, %dv, %db : tensor<bf16>, !q, !k, !k, tensor<1x6x9x11x!stat>
}

func.func @statistics(
    %x: !x {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.5, 2.0>},
    %w: !channels {reprise.role = "input", reprise.name = "weight", reprise.init = #reprise.uniform<0.5, 1.5>},
    %b: !channels {reprise.role = "input", reprise.name = "bias", reprise.init = #reprise.normal<0.0, 0.5>})
    -> (!x {reprise.name = "normal"}, tensor<8x!stat> {reprise.name = "mean"},
        tensor<8x!stat> {reprise.name = "variance"}) {
  %normal, %mean, %variance = reprise.batch_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
      : (!x, !channels, !channels) -> (!x, tensor<8x!stat>, tensor<8x!stat>)
  %whole, %unbiased = reprise.batch_statistics %mean, %variance count 105 deferred : tensor<8x!stat>
  return %normal, %whole, %unbiased : !x, tensor<8x!stat>, tensor<8x!stat>
}
