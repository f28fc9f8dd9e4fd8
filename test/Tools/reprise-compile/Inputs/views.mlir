func.func private @loss(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>) -> tensor<f32> {
  %a = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %h = reprise.tanh %a : tensor<16x16xf32>
  %hn = reprise.name %h "whole" : tensor<16x16xf32>
  %t = reprise.transpose %hn [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %tn = reprise.name %t "turned" : tensor<16x16xf32>
  %p = reprise.dot_general %hn, %v contracting [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %q = reprise.dot_general %tn, %v contracting [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = reprise.mul %p, %q : tensor<16x16xf32>
  %s = reprise.reshape %r : (tensor<16x16xf32>) -> tensor<256xf32>
  %sn = reprise.name %s "flat" : tensor<256xf32>
  %e = reprise.mul %sn, %sn : tensor<256xf32>
  %m = reprise.mean %e dims [0] : (tensor<256xf32>) -> tensor<f32>
  return %m : tensor<f32>
}
func.func @grad(
    %x: tensor<16x16xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %w: tensor<16x16xf32> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>},
    %v: tensor<16x16xf32> {reprise.role = "parameter", reprise.name = "v", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<16x16xf32> {reprise.name = "gw"}, tensor<16x16xf32> {reprise.name = "gv"}) {
  %l, %gw, %gv = reprise.value_and_grad @loss(%x, %w, %v) wrt [1, 2] : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>)
  return %l, %gw, %gv : tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>
}
func.func @argument(%x: tensor<16x16xf32> {reprise.role = "input", reprise.name = "x"}) -> (tensor<256xf32> {reprise.name = "y"}) {
  %y = reprise.reshape %x : (tensor<16x16xf32>) -> tensor<256xf32>
  %z = reprise.sin %y : tensor<256xf32>
  return %z : tensor<256xf32>
}
