// RUN: reprise-opt %s --exec-form-launches -split-input-file | FileCheck %s

// Elementwise ops share a launch; labels and replay marks stay behind, so that equal bodies print alike.
// CHECK-LABEL: @chain
// CHECK: %[[R:.*]] = exec.launch (%[[A:.*]] = %arg0) : (tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %[[E:.*]] = reprise.exp %[[A]] : tensor<8xf32>
// CHECK-NEXT: %[[S:.*]] = reprise.add %[[E]], %[[A]] : tensor<8xf32>
// CHECK-NEXT: exec.return %[[S]]
// CHECK: return %[[R]]
reprise.program @chain devices [0] (%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = reprise.exp %x {reprise.label = #reprise.label<must_save>, replay = 3 : i64} : tensor<8xf32>
  %1 = reprise.add %0, %x {replay = 3 : i64} : tensor<8xf32>
  reprise.return %1 : tensor<8xf32>
}

// -----

// A row program: the reduction, its broadcast and what follows; the reduced value is read outside, so it is stored.
// CHECK-LABEL: @rows
// CHECK: exec.launch ({{.*}}) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
// CHECK-NOT: exec.launch
reprise.program @rows devices [0] (%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %0 = reprise.max %x dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = reprise.broadcast %0 dims [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %2 = reprise.sub %x, %1 : tensor<4x8xf32>
  reprise.return %0, %2 : tensor<4xf32>, tensor<4x8xf32>
}

// -----

// A value that is read transposed must be stored first.
// CHECK-LABEL: @transposed
// CHECK: exec.launch
// CHECK: exec.launch
// CHECK-NEXT: reprise.transpose
reprise.program @transposed devices [0] (%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = reprise.exp %x : tensor<8x8xf32>
  %1 = reprise.transpose %0 [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = reprise.add %1, %x : tensor<8x8xf32>
  reprise.return %2 : tensor<8x8xf32>
}

// -----

// Cotangents never join the forward pass, even if they read forward values only.
// CHECK-LABEL: @parts
// CHECK-COUNT-2: exec.launch
reprise.program @parts devices [0] (%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = reprise.exp %x {reprise.primal} : tensor<8xf32>
  %1 = reprise.mul %0, %0 {reprise.cotangent} : tensor<8xf32>
  reprise.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// An update moves up behind its gradient and the last reader of the old value.
// CHECK-LABEL: @hoisted
// CHECK: reprise.exp
// CHECK: reprise.tanh
// CHECK: reprise.sub
// CHECK: reprise.log
reprise.program @hoisted devices [0] (%w: tensor<8xf32> {reprise.name = "w"}, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32> {reprise.name = "w"}) {
  %g = reprise.exp %w {reprise.cotangent} : tensor<8xf32>
  %r = reprise.tanh %w {reprise.primal} : tensor<8xf32>
  %s = reprise.slice %r from [0] to [4] by [1] : (tensor<8xf32>) -> tensor<4xf32>
  %l = reprise.log %x {reprise.cotangent} : tensor<4xf32>
  %m = reprise.add %l, %s {reprise.cotangent} : tensor<4xf32>
  %n = reprise.sub %w, %g : tensor<8xf32>
  reprise.return %m, %n : tensor<4xf32>, tensor<8xf32>
}

// -----

// Results are buffers: views, splats, foreign arguments and values returned twice are copied.
// CHECK-LABEL: @aliases
// CHECK-COUNT-4: exec.launch
reprise.program @aliases devices [0] (%a: tensor<4xf32> {reprise.name = "a"}, %b: tensor<4xf32> {reprise.name = "b"}) -> (tensor<4xf32> {reprise.name = "b"}, tensor<2x2xf32> {reprise.name = "v"}, tensor<3xf32> {reprise.name = "c"}, tensor<4xf32> {reprise.name = "a"}) {
  %v = reprise.reshape %b : (tensor<4xf32>) -> tensor<2x2xf32>
  %c = reprise.constant dense<1.0> : tensor<3xf32>
  reprise.return %a, %v, %c, %b : tensor<4xf32>, tensor<2x2xf32>, tensor<3xf32>, tensor<4xf32>
}

// -----

// A value that is returned twice is copied from the launch that computes it.
// CHECK-LABEL: @twice
// CHECK: %[[Y:.*]] = exec.launch
// CHECK: %[[COPY:.*]] = exec.launch (%{{.*}} = %[[Y]])
// CHECK: return %[[Y]], %[[COPY]]
reprise.program @twice devices [0] (%x: tensor<4xf32> {reprise.name = "x"}) -> (tensor<4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "z"}) {
  %y = reprise.exp %x : tensor<4xf32>
  reprise.return %y, %y : tensor<4xf32>, tensor<4xf32>
}

// -----

// An update of several state values is one launch: what reads old values alone waits for its reader, and ops that read
// the same gradient come together. What several updates read of arguments alone comes first.
// CHECK-LABEL: @moments
// CHECK: exec.launch ({{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: reprise.exp
// CHECK: exec.launch ({{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: reprise.tanh
// CHECK: exec.launch
// CHECK-DAG: reprise.mul
// CHECK-DAG: reprise.sub
// CHECK-DAG: reprise.add
// CHECK: exec.return %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CHECK: exec.launch ({{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: reprise.log
// CHECK: exec.launch ({{.*}}) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NOT: exec.launch
reprise.program @moments devices [0] (%w: tensor<8xf32> {reprise.name = "w"}, %m: tensor<8xf32> {reprise.name = "m"}, %v: tensor<8xf32> {reprise.name = "v"},
                   %u: tensor<4xf32> {reprise.name = "u"}, %rate: tensor<f32>)
    -> (tensor<8xf32> {reprise.name = "w"}, tensor<8xf32> {reprise.name = "m"}, tensor<8xf32> {reprise.name = "v"},
        tensor<4xf32> {reprise.name = "u"}, tensor<4xf32> {reprise.name = "l"}) {
  %half = reprise.constant dense<0.5> : tensor<8xf32>
  %g = reprise.tanh %w {reprise.cotangent} : tensor<8xf32>
  %l = reprise.log %u {reprise.cotangent} : tensor<4xf32>
  %s = reprise.exp %rate : tensor<f32>
  %d = reprise.broadcast %s dims [] : (tensor<f32>) -> tensor<8xf32>
  %e = reprise.broadcast %s dims [] : (tensor<f32>) -> tensor<4xf32>
  %0 = reprise.mul %m, %half : tensor<8xf32>
  %1 = reprise.add %0, %g : tensor<8xf32>
  %2 = reprise.mul %v, %half : tensor<8xf32>
  %3 = reprise.mul %g, %g : tensor<8xf32>
  %4 = reprise.add %2, %3 : tensor<8xf32>
  %5 = reprise.mul %w, %d : tensor<8xf32>
  %6 = reprise.mul %1, %4 : tensor<8xf32>
  %7 = reprise.sub %5, %6 : tensor<8xf32>
  %8 = reprise.mul %u, %e : tensor<4xf32>
  reprise.return %7, %1, %4, %8, %l : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Elementwise ops on a contraction's result join it; the second result is stored too, and the rest is a launch of its own.
// CHECK-LABEL: @epilogue
// CHECK: exec.launch ({{.*}}) : ({{.*}}) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
// CHECK-NEXT: reprise.dot_general
// CHECK-NEXT: reprise.broadcast
// CHECK-NEXT: reprise.add
// CHECK-NEXT: reprise.tanh
// CHECK: exec.launch
// CHECK-NEXT: reprise.sum
reprise.program @epilogue devices [0] (%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<6xf32>) {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = reprise.broadcast %b dims [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %2 = reprise.add %0, %1 : tensor<4x6xf32>
  %3 = reprise.tanh %2 : tensor<4x6xf32>
  %4 = reprise.sum %3 dims [0] : (tensor<4x6xf32>) -> tensor<6xf32>
  reprise.return %2, %3, %4 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<6xf32>
}

// -----

// What reads forward values alone waits for its reader in the backward pass.
// CHECK-LABEL: @mask
// CHECK: exec.launch
// CHECK-NEXT: reprise.tanh
// CHECK: exec.launch
// CHECK-NEXT: reprise.dot_general
// CHECK: reprise.compare
// CHECK-NEXT: reprise.select
// CHECK-NOT: exec.launch
reprise.program @mask devices [0] (%x: tensor<4x4xf32>, %d: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = reprise.constant dense<0.0> : tensor<4x4xf32>
  %0 = reprise.tanh %x {reprise.primal} : tensor<4x4xf32>
  %1 = reprise.dot_general %d, %x contracting [1] x [0] {reprise.cotangent} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = reprise.compare gt %0, %zero {reprise.cotangent} : tensor<4x4xf32>
  %3 = reprise.select %2, %1, %zero {reprise.cotangent} : tensor<4x4xi1>, tensor<4x4xf32>
  reprise.return %0, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Positions come from a buffer, where a run can check them: neither a view nor their arithmetic joins their reader.
// CHECK-LABEL: @positions
// CHECK: %[[WINDOW:.*]] = exec.launch
// CHECK-NEXT: reprise.slice
// CHECK-NEXT: exec.return
// CHECK: exec.launch ({{.*}} = %arg1, %[[I:.*]] = %[[WINDOW]])
// CHECK-NEXT: reprise.gather %{{.*}}[%[[I]]]
// CHECK: %[[LABELS:.*]] = exec.launch (%{{.*}} = %[[WINDOW]])
// CHECK-NEXT: reprise.neg
// CHECK-NEXT: exec.return
// CHECK: exec.launch ({{.*}}, %[[J:.*]] = %[[LABELS]])
// CHECK: reprise.cross_entropy %{{.*}}, %[[J]]
reprise.program @positions devices [0] (%x: tensor<8xi32>, %table: tensor<5x7xf32>) -> tensor<4xf32> {
  %window = reprise.slice %x from [0] to [4] by [1] : (tensor<8xi32>) -> tensor<4xi32>
  %rows = reprise.gather %table[%window] : (tensor<5x7xf32>, tensor<4xi32>) -> tensor<4x7xf32>
  %logits = reprise.exp %rows : tensor<4x7xf32>
  %labels = reprise.neg %window : tensor<4xi32>
  %each = reprise.cross_entropy %logits, %labels : (tensor<4x7xf32>, tensor<4xi32>) -> tensor<4xf32>
  reprise.return %each : tensor<4xf32>
}

// -----

// Values that are returned for the comparison of replays alone are stored by the launch that would hold them anyway.
// CHECK-LABEL: @exposed
// CHECK: exec.launch
// CHECK-NEXT: %[[A:.*]] = reprise.exp
// CHECK-NEXT: %[[B:.*]] = reprise.log
// CHECK-NEXT: %[[C:.*]] = reprise.add %[[A]], %[[B]]
// CHECK-NEXT: exec.return %[[A]], %[[B]], %[[C]] :
// CHECK-NOT: exec.launch
reprise.program @exposed devices [0] (%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32> {reprise.name = "c"}, tensor<4xf32> {reprise.check = "original of a replay"}, tensor<4xf32> {reprise.check = "original of a replay"}) {
  %a = reprise.exp %x : tensor<4xf32>
  %b = reprise.log %y : tensor<4xf32>
  %c = reprise.add %a, %b : tensor<4xf32>
  reprise.return %c, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The backward of a layer norm behind a contraction: its reductions read g where the others do, sums over rows go along,
// and the product with the weight is made where it is read.
// CHECK-LABEL: @row_gradients
// CHECK: %[[G:.*]] = exec.launch
// CHECK-NEXT: reprise.dot_general
// CHECK-NEXT: exec.return
// CHECK: exec.launch (%[[A:[a-z0-9]*]] = %[[G]], %[[W:[a-z0-9]*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK-NEXT: %[[S:.*]] = reprise.broadcast %[[W]] dims [1]
// CHECK-NEXT: %[[H:.*]] = reprise.mul %[[A]], %[[S]]
// CHECK-NEXT: %[[N:.*]] = reprise.tanh
// CHECK-NEXT: %[[P:.*]] = reprise.mul %[[A]], %[[N]]
// CHECK-NEXT: %[[DW:.*]] = reprise.sum %[[P]] dims [0]
// CHECK-NEXT: %[[DB:.*]] = reprise.sum %[[A]] dims [0]
// CHECK-NEXT: reprise.mul %[[H]], %[[N]]
// CHECK-NEXT: reprise.mean %[[H]] dims [1]
// CHECK: exec.return %[[DW]], %[[DB]], %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>
// CHECK-NOT: exec.launch
reprise.program @row_gradients devices [0] (%x: tensor<8x4xf32>, %m: tensor<4x4xf32>, %w: tensor<4xf32>, %n: tensor<8x4xf32>)
    -> (tensor<4xf32> {reprise.name = "dw"}, tensor<4xf32> {reprise.name = "db"}, tensor<8x4xf32> {reprise.name = "dx"}) {
  %g = reprise.dot_general %x, %m contracting [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %normal = reprise.tanh %n : tensor<8x4xf32>
  %p = reprise.mul %g, %normal : tensor<8x4xf32>
  %dw = reprise.sum %p dims [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  %db = reprise.sum %g dims [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  %spread = reprise.broadcast %w dims [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %h = reprise.mul %g, %spread : tensor<8x4xf32>
  %along = reprise.mul %h, %normal : tensor<8x4xf32>
  %mean = reprise.mean %h dims [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  %means = reprise.broadcast %mean dims [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %across = reprise.sub %h, %means : tensor<8x4xf32>
  %dx = reprise.sub %across, %along : tensor<8x4xf32>
  reprise.return %dw, %db, %dx : tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>
}

// -----

// Reductions of samples and positions, and elementwise ops with what they give, walk one channel after the other.
// CHECK-LABEL: @channel_gradients
// CHECK: exec.launch
// CHECK: reprise.sum %{{.*}} dims [0, 2]
// CHECK: reprise.sum %{{.*}} dims [0, 2]
// CHECK: exec.return
// CHECK-NOT: exec.launch
reprise.program @channel_gradients devices [0] (%g: tensor<3x4x5xf32>, %normal: tensor<3x4x5xf32>)
    -> (tensor<4xf32> {reprise.name = "dw"}, tensor<3x4x5xf32> {reprise.name = "dx"}) {
  %p = reprise.mul %g, %normal : tensor<3x4x5xf32>
  %dw = reprise.sum %p dims [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
  %db = reprise.sum %g dims [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
  %rest = reprise.mul %dw, %db : tensor<4xf32>
  %spread = reprise.broadcast %rest dims [1] : (tensor<4xf32>) -> tensor<3x4x5xf32>
  %dx = reprise.sub %g, %spread : tensor<3x4x5xf32>
  reprise.return %dw, %dx : tensor<4xf32>, tensor<3x4x5xf32>
}

// -----

// Factors of channels that only wait for their reader go ahead, what is as large as it stays with it.
// CHECK-LABEL: @smaller_first
// CHECK: %[[R:.*]] = exec.launch (%{{.*}} = %arg1) : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK: reprise.rsqrt
// CHECK: exec.launch (%{{.*}} = %arg0, %{{.*}} = %[[R]])
// CHECK-NEXT: reprise.exp
// CHECK: reprise.mul
// CHECK-NOT: exec.launch
reprise.program @smaller_first devices [0] (%x: tensor<3x4x5xf32>, %v: tensor<4xf32>) -> (tensor<3x4x5xf32> {reprise.name = "y"}) {
  %e = reprise.exp %x : tensor<3x4x5xf32>
  %n = reprise.neg %v : tensor<4xf32>
  %r = reprise.rsqrt %n : tensor<4xf32>
  %spread = reprise.broadcast %r dims [1] : (tensor<4xf32>) -> tensor<3x4x5xf32>
  %y = reprise.mul %e, %spread : tensor<3x4x5xf32>
  reprise.return %y : tensor<3x4x5xf32>
}

// -----

// Elementwise ops on slices of one value share a launch, such as the gates of a recurrent layer.
// CHECK-LABEL: @gates
// CHECK: reprise.dot_general
// CHECK: exec.launch
// CHECK: reprise.sigmoid
// CHECK: reprise.tanh
// CHECK: reprise.mul
// CHECK-NOT: exec.launch
reprise.program @gates devices [0] (%x: tensor<8x4xf32>, %w: tensor<4x32xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<8x4xf32>, tensor<4x32xf32>) -> tensor<8x32xf32>
  %1 = reprise.slice %0 from [0, 0] to [8, 16] by [1, 1] : (tensor<8x32xf32>) -> tensor<8x16xf32>
  %2 = reprise.sigmoid %1 : tensor<8x16xf32>
  %3 = reprise.slice %0 from [0, 16] to [8, 32] by [1, 1] : (tensor<8x32xf32>) -> tensor<8x16xf32>
  %4 = reprise.tanh %3 : tensor<8x16xf32>
  %5 = reprise.mul %2, %4 : tensor<8x16xf32>
  reprise.return %2, %4, %5 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

// -----

// Pads that elementwise ops alone read are no launches of their own, such as cotangents of slices.
// CHECK-LABEL: @pads
// CHECK: exec.launch ({{.*}}) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32> {
// CHECK: reprise.pad
// CHECK: reprise.pad
// CHECK-NEXT: reprise.add
// CHECK-NOT: exec.launch
reprise.program @pads devices [0] (%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x32xf32> {
  %0 = reprise.pad %x with 0.0 : f32 low [0, 0] high [0, 16] interior [0, 0] : (tensor<8x16xf32>) -> tensor<8x32xf32>
  %1 = reprise.pad %y with 0.0 : f32 low [0, 16] high [0, 0] interior [0, 0] : (tensor<8x16xf32>) -> tensor<8x32xf32>
  %2 = reprise.add %0, %1 : tensor<8x32xf32>
  reprise.return %2 : tensor<8x32xf32>
}

// -----

// Others are stored, and what is padded is stored before.
// CHECK-LABEL: @padded
// CHECK: exec.launch
// CHECK-NEXT: reprise.exp
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK-NEXT: reprise.pad
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK: reprise.dot_general
reprise.program @padded devices [0] (%x: tensor<8x16xf32>, %y: tensor<8x32xf32>) -> (tensor<8x8xf32>, tensor<8x32xf32>) {
  %0 = reprise.exp %x : tensor<8x16xf32>
  %1 = reprise.pad %0 with 0.0 : f32 low [0, 0] high [0, 16] interior [0, 0] : (tensor<8x16xf32>) -> tensor<8x32xf32>
  %2 = reprise.dot_general %1, %y contracting [1] x [1] : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
  %3 = reprise.pad %0 with 0.0 : f32 low [0, 16] high [0, 0] interior [0, 0] : (tensor<8x16xf32>) -> tensor<8x32xf32>
  %4 = reprise.mul %3, %y : tensor<8x32xf32>
  reprise.return %2, %4 : tensor<8x8xf32>, tensor<8x32xf32>
}

// -----

// Launches convert what they load to wider floats: the narrow value travels.
// CHECK-LABEL: @narrow
// CHECK: %[[D:.*]] = exec.launch {{.*}} -> tensor<4x8xbf16> {
// CHECK-NEXT: reprise.dot_general
// CHECK: exec.launch ({{.*}} = %[[D]]) : (tensor<4x8xbf16>) -> tensor<8xf32> {
// CHECK-NEXT: reprise.cast
// CHECK-NEXT: reprise.mean
// CHECK: exec.launch ({{.*}}%[[D]]{{.*}}) : {{.*}} -> tensor<4x8xf32> {
// CHECK: reprise.cast
// CHECK: reprise.sub
reprise.program @narrow devices [0] (%x: tensor<4x6xbf16>, %w: tensor<6x8xbf16>) -> tensor<4x8xf32> {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x6xbf16>, tensor<6x8xbf16>) -> tensor<4x8xbf16>
  %1 = reprise.cast %0 : tensor<4x8xbf16> to tensor<4x8xf32>
  %2 = reprise.cast %0 {reprise.copy = 0 : i64} : tensor<4x8xbf16> to tensor<4x8xf32>
  %3 = reprise.mean %2 dims [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  %4 = reprise.broadcast %3 dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %5 = reprise.sub %1, %4 : tensor<4x8xf32>
  reprise.return %5 : tensor<4x8xf32>
}

// -----

// A contraction reads its operand from memory, where the launch before it converts it.
// CHECK-LABEL: @operand
// CHECK: exec.launch {{.*}} -> tensor<4x6xf32> {
// CHECK-NEXT: reprise.neg
// CHECK-NEXT: reprise.cast
// CHECK: exec.launch {{.*}} -> tensor<4x8xf32> {
// CHECK-NEXT: reprise.dot_general
reprise.program @operand devices [0] (%x: tensor<4x6xbf16>, %w: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %0 = reprise.neg %x : tensor<4x6xbf16>
  %1 = reprise.cast %0 : tensor<4x6xbf16> to tensor<4x6xf32>
  %2 = reprise.dot_general %1, %w contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  reprise.return %2 : tensor<4x8xf32>
}
