// Values of many sizes, so that a tight budget is met by another order of the launches only.
!x = tensor<256x32xf32>
!w0 = tensor<32x256xf32>
!w = tensor<256x256xf32>
!h = tensor<256x64xf32>
!n = tensor<64x64xf32>
!w5 = tensor<64x256xf32>
func.func private @loss(%x: !x, %w0: !w0, %w1: !w, %w2: !w, %w3: !h, %w4: !n, %w5: !w5) -> tensor<f32> {
  %v1 = reprise.dot_general %x, %w0 contracting [1] x [0] : (!x, !w0) -> !w
  %v2 = reprise.dot_general %v1, %w1 contracting [1] x [0] : (!w, !w) -> !w
  %v3 = reprise.sigmoid %v2 : !w
  %v4 = reprise.relu %v3 : !w
  %v5 = reprise.dot_general %v4, %w2 contracting [1] x [0] : (!w, !w) -> !w
  %v6 = reprise.sigmoid %v5 : !w
  %v7 = reprise.dot_general %v6, %w3 contracting [1] x [0] : (!w, !h) -> !h
  %v8 = reprise.gelu %v7 : !h
  %v9 = reprise.relu %v8 : !h
  %v10 = reprise.dot_general %v9, %w4 contracting [1] x [0] : (!h, !n) -> !h
  %v11 = reprise.sigmoid %v10 : !h
  %v12 = reprise.gelu %v11 : !h
  %v13 = reprise.gelu %v12 : !h
  %v14 = reprise.gelu %v13 : !h
  %v15 = reprise.sigmoid %v14 : !h
  %v16 = reprise.tanh %v15 : !h
  %v17 = reprise.dot_general %v16, %w5 contracting [1] x [0] : (!h, !w5) -> !w
  %v18 = reprise.mul %v17, %v1 : !w
  %v19 = reprise.mul %v18, %v18 : !w
  %v20 = reprise.mean %v19 dims [0, 1] : (!w) -> tensor<f32>
  return %v20 : tensor<f32>
}
func.func @train(%x: !x {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
                 %w0: !w0 {reprise.role = "parameter", reprise.name = "w0", reprise.init = #reprise.normal<0.0, 0.05>},
                 %w1: !w {reprise.role = "parameter", reprise.name = "w1", reprise.init = #reprise.normal<0.0, 0.05>},
                 %w2: !w {reprise.role = "parameter", reprise.name = "w2", reprise.init = #reprise.normal<0.0, 0.05>},
                 %w3: !h {reprise.role = "parameter", reprise.name = "w3", reprise.init = #reprise.normal<0.0, 0.05>},
                 %w4: !n {reprise.role = "parameter", reprise.name = "w4", reprise.init = #reprise.normal<0.0, 0.05>},
                 %w5: !w5 {reprise.role = "parameter", reprise.name = "w5", reprise.init = #reprise.normal<0.0, 0.05>})
    -> (tensor<f32> {reprise.name = "loss"},
        !w0 {reprise.name = "w0"},
        !w {reprise.name = "w1"},
        !w {reprise.name = "w2"},
        !h {reprise.name = "w3"},
        !n {reprise.name = "w4"},
        !w5 {reprise.name = "w5"}) {
  %loss, %g0, %g1, %g2, %g3, %g4, %g5 = reprise.value_and_grad @loss(%x, %w0, %w1, %w2, %w3, %w4, %w5) wrt [1, 2, 3, 4, 5, 6] : (!x, !w0, !w, !w, !h, !n, !w5) -> (tensor<f32>, !w0, !w, !w, !h, !n, !w5)
  %n0 = reprise.sub %w0, %g0 : !w0
  %n1 = reprise.sub %w1, %g1 : !w
  %n2 = reprise.sub %w2, %g2 : !w
  %n3 = reprise.sub %w3, %g3 : !h
  %n4 = reprise.sub %w4, %g4 : !n
  %n5 = reprise.sub %w5, %g5 : !w5
  return %loss, %n0, %n1, %n2, %n3, %n4, %n5 : tensor<f32>, !w0, !w, !w, !h, !n, !w5
}
