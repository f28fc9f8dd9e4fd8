// Two gradients of the same weights in one step.
!x = tensor<1024x64xf32>
!w = tensor<64x64xf32>
func.func private @loss(%x: !x, %w0: !w, %w1: !w, %w2: !w, %w3: !w) -> tensor<f32> {
  %a0 = reprise.dot_general %x, %w0 contracting [1] x [0] : (!x, !w) -> !x
  %b0 = reprise.gelu %a0 : !x
  %a1 = reprise.dot_general %b0, %w1 contracting [1] x [0] : (!x, !w) -> !x
  %b1 = reprise.gelu %a1 : !x
  %a2 = reprise.dot_general %b1, %w2 contracting [1] x [0] : (!x, !w) -> !x
  %b2 = reprise.gelu %a2 : !x
  %a3 = reprise.dot_general %b2, %w3 contracting [1] x [0] : (!x, !w) -> !x
  %b3 = reprise.gelu %a3 : !x
  %s = reprise.mul %b3, %b3 : !x
  %l = reprise.mean %s dims [0, 1] : (!x) -> tensor<f32>
  return %l : tensor<f32>
}
func.func @train(%x0: !x {reprise.role = "input", reprise.name = "x0", reprise.init = #reprise.normal<0.0, 0.1>},
                 %x1: !x {reprise.role = "input", reprise.name = "x1", reprise.init = #reprise.normal<0.0, 0.1>},
                 %w0: !w {reprise.role = "parameter", reprise.name = "w0", reprise.init = #reprise.normal<0.0, 0.1>},
                 %w1: !w {reprise.role = "parameter", reprise.name = "w1", reprise.init = #reprise.normal<0.0, 0.1>},
                 %w2: !w {reprise.role = "parameter", reprise.name = "w2", reprise.init = #reprise.normal<0.0, 0.1>},
                 %w3: !w {reprise.role = "parameter", reprise.name = "w3", reprise.init = #reprise.normal<0.0, 0.1>})
    -> (tensor<f32> {reprise.name = "loss0"}, tensor<f32> {reprise.name = "loss1"}, !w {reprise.name = "w0"},
        !w {reprise.name = "w1"}, !w {reprise.name = "w2"}, !w {reprise.name = "w3"}) {
  %l0, %g:4 = reprise.value_and_grad @loss(%x0, %w0, %w1, %w2, %w3) wrt [1, 2, 3, 4] : (!x, !w, !w, !w, !w) -> (tensor<f32>, !w, !w, !w, !w)
  %l1, %h:4 = reprise.value_and_grad @loss(%x1, %w0, %w1, %w2, %w3) wrt [1, 2, 3, 4] : (!x, !w, !w, !w, !w) -> (tensor<f32>, !w, !w, !w, !w)
  %s0 = reprise.add %g#0, %h#0 : !w
  %n0 = reprise.sub %w0, %s0 : !w
  %s1 = reprise.add %g#1, %h#1 : !w
  %n1 = reprise.sub %w1, %s1 : !w
  %s2 = reprise.add %g#2, %h#2 : !w
  %n2 = reprise.sub %w2, %s2 : !w
  %s3 = reprise.add %g#3, %h#3 : !w
  %n3 = reprise.sub %w3, %s3 : !w
  return %l0, %l1, %n0, %n1, %n2, %n3 : tensor<f32>, tensor<f32>, !w, !w, !w, !w
}
