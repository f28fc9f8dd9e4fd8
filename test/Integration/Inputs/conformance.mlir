// What the peers' checkpointing tests do, as steps: conformance.py compiles each entry under many plans.
!x = tensor<4x8xf32>
!w = tensor<8x8xf32>
!s = tensor<f32>

// Checkpoints in a checkpoint, three deep and two side by side; the inner ones read values from above.
func.func private @nested(%x: !x, %w: !w) -> !s {
  %0 = reprise.checkpoint {
    %1 = reprise.sin %x : !x
    %2 = reprise.checkpoint {
      %3 = reprise.dot_general %1, %w contracting [1] x [0] : (!x, !w) -> !x
      %4 = reprise.checkpoint {
        %5 = reprise.tanh %3 : !x
        %6 = reprise.mul %5, %1 : !x
        reprise.yield %6 : !x
      } : !x
      %7 = reprise.exp %4 : !x
      reprise.yield %7 : !x
    } : !x
    %8 = reprise.checkpoint {
      %9 = reprise.cos %2 : !x
      %10 = reprise.mul %9, %1 : !x
      reprise.yield %10 : !x
    } : !x
    %11 = reprise.mul %8, %2 : !x
    reprise.yield %11 : !x
  } : !x
  %12 = reprise.mul %0, %0 : !x
  %13 = reprise.mean %12 dims [0, 1] : (!x) -> !s
  return %13 : !s
}

func.func private @square(%x: !x) -> !s {
  %0 = reprise.mul %x, %x : !x
  %1 = reprise.mean %0 dims [0, 1] : (!x) -> !s
  return %1 : !s
}

func.func private @slope(%x: !x, %w: !w) -> !s {
  %0, %1 = reprise.value_and_grad @nested(%x, %w) wrt [0] : (!x, !w) -> (!s, !x)
  %2 = func.call @square(%1) : (!x) -> !s
  return %2 : !s
}

func.func private @bend(%x: !x, %w: !w) -> !s {
  %0, %1 = reprise.value_and_grad @slope(%x, %w) wrt [0] : (!x, !w) -> (!s, !x)
  %2 = func.call @square(%1) : (!x) -> !s
  return %2 : !s
}

func.func @first(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "loss"}, !x {reprise.name = "dx"}, !w {reprise.name = "dw"}) {
  %0, %1, %2 = reprise.value_and_grad @nested(%x, %w) wrt [0, 1] : (!x, !w) -> (!s, !x, !w)
  return %0, %1, %2 : !s, !x, !w
}

func.func @second(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "loss"}, !x {reprise.name = "dx"}, !w {reprise.name = "dw"}) {
  %0, %1, %2 = reprise.value_and_grad @slope(%x, %w) wrt [0, 1] : (!x, !w) -> (!s, !x, !w)
  return %0, %1, %2 : !s, !x, !w
}

func.func @third(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "loss"}, !x {reprise.name = "dx"}, !w {reprise.name = "dw"}) {
  %0, %1, %2 = reprise.value_and_grad @bend(%x, %w) wrt [0, 1] : (!x, !w) -> (!s, !x, !w)
  return %0, %1, %2 : !s, !x, !w
}

// Two losses of one forward pass: both backward passes read what it saved, and a value is returned as well.
func.func private @pair(%x: !x, %w: !w) -> (!s, !s, !x) {
  %0 = reprise.checkpoint {
    %1 = reprise.dot_general %x, %w contracting [1] x [0] : (!x, !w) -> !x
    %2 = reprise.gelu %1 : !x
    %3 = reprise.dropout %2 {rate = 0.25 : f64} : !x
    reprise.yield %3 : !x
  } : !x
  %4 = reprise.dot_general %0, %w contracting [1] x [0] : (!x, !w) -> !x
  %5 = reprise.tanh %4 : !x
  %6 = func.call @square(%5) : (!x) -> !s
  %7 = reprise.exp %4 : !x
  %8 = reprise.mean %7 dims [0, 1] : (!x) -> !s
  return %6, %8, %0 : !s, !s, !x
}

func.func @twice(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "a"}, !s {reprise.name = "b"}, !x {reprise.name = "hidden"}, !w {reprise.name = "da"}, !w {reprise.name = "db"}) {
  %0:5 = reprise.value_and_grad @pair(%x, %w) wrt [1] of [0, 1] : (!x, !w) -> (!s, !s, !x, !w, !w)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : !s, !s, !x, !w, !w
}

// Two regions with replays in one step, the second on what the first gave.
func.func private @one(%x: !x, %w: !w) -> !s {
  %0, %1, %2 = func.call @pair(%x, %w) : (!x, !w) -> (!s, !s, !x)
  return %0 : !s
}

func.func @regions(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "a"}, !s {reprise.name = "b"}, !w {reprise.name = "da"}, !w {reprise.name = "db"}) {
  %0, %1 = reprise.value_and_grad @one(%x, %w) wrt [1] : (!x, !w) -> (!s, !w)
  %2 = reprise.sub %w, %1 : !w
  %3, %4 = reprise.value_and_grad @one(%x, %2) wrt [1] : (!x, !w) -> (!s, !w)
  return %0, %3, %1, %4 : !s, !s, !w, !w
}

// A checkpoint with several results, one of them twice and one of integers; what comes from above; what nobody differentiates; a cast as autocast makes it.
func.func private @mixed(%x: !x, %w: !w) -> !s {
  %detached = reprise.iota dim 1 : !x
  %0:4 = reprise.checkpoint {
    %1 = reprise.mul %x, %detached : !x
    %2 = reprise.cast %1 : !x to tensor<4x8xbf16>
    %3 = reprise.cast %w : !w to tensor<8x8xbf16>
    %4 = reprise.dot_general %2, %3 contracting [1] x [0] : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
    %5 = reprise.cast %4 : tensor<4x8xbf16> to !x
    %6 = reprise.sin %5 : !x
    %7 = reprise.argmax %6 dim 1 : (!x) -> tensor<4xi32>
    reprise.yield %6, %7, %x, %6 : !x, tensor<4xi32>, !x, !x
  } : !x, tensor<4xi32>, !x, !x
  %8 = reprise.gather %w[%0#1] : (!w, tensor<4xi32>) -> !x
  %9 = reprise.mul %0#0, %8 : !x
  %10 = reprise.mul %9, %0#2 : !x
  %11 = reprise.mul %10, %0#3 : !x
  %12 = func.call @square(%11) : (!x) -> !s
  return %12 : !s
}

func.func @results(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "loss"}, !x {reprise.name = "dx"}, !w {reprise.name = "dw"}) {
  %0, %1, %2 = reprise.value_and_grad @mixed(%x, %w) wrt [0, 1] : (!x, !w) -> (!s, !x, !w)
  return %0, %1, %2 : !s, !x, !w
}

// An op with several results, one of them named: it is saved, its sisters are not.
func.func private @statistics(%x: !x, %w: !w) -> !s {
  %ones = reprise.constant dense<1.0> : tensor<8xf32>
  %0 = reprise.block {
    %1 = reprise.dot_general %x, %w contracting [1] x [0] : (!x, !w) -> !x
    %2, %3, %4 = reprise.layer_norm %1, %ones, %ones {epsilon = 1.0e-5 : f64, reprise.label = #reprise.label<prefer_recompute>} : (!x, tensor<8xf32>, tensor<8xf32>) -> (!x, tensor<4xf32>, tensor<4xf32>)
    %5 = reprise.name %4 "rstd" {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
    %6 = reprise.tanh %2 : !x
    reprise.yield %6 : !x
  } : !x
  %7 = reprise.dot_general %0, %w contracting [1] x [0] : (!x, !w) -> !x
  %8 = func.call @square(%7) : (!x) -> !s
  return %8 : !s
}

func.func @several(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "loss"}, !x {reprise.name = "dx"}, !w {reprise.name = "dw"}) {
  %0, %1, %2 = reprise.value_and_grad @statistics(%x, %w) wrt [0, 1] : (!x, !w) -> (!s, !x, !w)
  return %0, %1, %2 : !s, !x, !w
}

// Two products: none, one or both are saved.
func.func private @products(%x: !x, %w: !w) -> !s {
  %0 = reprise.block {
    %1 = reprise.dot_general %x, %w contracting [1] x [0] : (!x, !w) -> !x
    %2 = reprise.sin %1 : !x
    %3 = reprise.dot_general %2, %w contracting [1] x [0] : (!x, !w) -> !x
    %4 = reprise.sin %3 : !x
    reprise.yield %4 : !x
  } : !x
  %5 = reprise.dot_general %0, %w contracting [1] x [0] : (!x, !w) -> !x
  %6 = func.call @square(%5) : (!x) -> !s
  return %6 : !s
}

func.func @counted(%x: !x {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %w: !w {reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (!s {reprise.name = "loss"}, !x {reprise.name = "dx"}, !w {reprise.name = "dw"}) {
  %0, %1, %2 = reprise.value_and_grad @products(%x, %w) wrt [0, 1] : (!x, !w) -> (!s, !x, !w)
  return %0, %1, %2 : !s, !x, !w
}

// Draws of every kind, and a batch norm whose running statistics are read once and returned once.
!i = tensor<4x2x4x4xf32>
!c = tensor<2xf32>
func.func private @drawn(%x: !i, %f: tensor<2x2x3x3xf32>, %scale: !c, %mean: !c, %variance: !c) -> (!s, !c, !c) {
  %0:3 = reprise.checkpoint {
    %1 = reprise.convolution %x, %f strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (!i, tensor<2x2x3x3xf32>) -> !i
    %2:3 = reprise.batch_norm %1, %scale, %scale {epsilon = 1.0e-5 : f64} : (!i, !c, !c) -> (!i, !c, !c)
    %3 = reprise.dropout %2#0 {rate = 0.5 : f64} : !i
    %4 = reprise.random_normal : !i
    %5 = reprise.random_uniform : !i
    %6 = reprise.mul %3, %4 : !i
    %7 = reprise.add %6, %5 : !i
    %8 = reprise.sin %7 : !i
    %next_mean = reprise.add %mean, %2#1 : !c
    %next_variance = reprise.mul %variance, %2#2 : !c
    reprise.yield %8, %next_mean, %next_variance : !i, !c, !c
  } : !i, !c, !c
  %9 = reprise.mul %0#0, %0#0 : !i
  %10 = reprise.mean %9 dims [0, 1, 2, 3] : (!i) -> !s
  return %10, %0#1, %0#2 : !s, !c, !c
}

func.func @draws(%x: !i {reprise.name = "x", reprise.init = #reprise.normal<0.0, 0.5>}, %f: tensor<2x2x3x3xf32> {reprise.role = "parameter", reprise.name = "f", reprise.init = #reprise.normal<0.0, 0.3>},
                 %scale: !c {reprise.role = "parameter", reprise.name = "scale", reprise.init = #reprise.fill<1.0>},
                 %mean: !c {reprise.role = "state", reprise.name = "mean", reprise.init = #reprise.fill<0.0>}, %variance: !c {reprise.role = "state", reprise.name = "variance", reprise.init = #reprise.fill<1.0>})
    -> (!s {reprise.name = "loss"}, tensor<2x2x3x3xf32> {reprise.name = "f"}, !c {reprise.name = "scale"}, !c {reprise.name = "mean"}, !c {reprise.name = "variance"}) {
  %0:5 = reprise.value_and_grad @drawn(%x, %f, %scale, %mean, %variance) wrt [1, 2] : (!i, tensor<2x2x3x3xf32>, !c, !c, !c) -> (!s, !c, !c, tensor<2x2x3x3xf32>, !c)
  %1 = reprise.sub %f, %0#3 : tensor<2x2x3x3xf32>
  %2 = reprise.sub %scale, %0#4 : !c
  return %0#0, %1, %2, %0#1, %0#2 : !s, tensor<2x2x3x3xf32>, !c, !c, !c
}
