// No schedule that fits a kernel changes a bit: SCHEDULE stands for several, on a CPU and on a GPU.
// RUN: rm -rf %t && mkdir %t
// RUN: sed "s, schedule <SCHEDULE>,," %s > %t/ops.mlir && reprise-compile %t/ops.mlir --interpret --output-dir=%t/ops
// RUN: sed 's/SCHEDULE/width = 32, rows = 1, columns = 1000/' %s > %t/one.mlir && reprise-compile %t/one.mlir --target=cpu:x86-64-v3 -o %t/one.rpb
// RUN: reprise-run %t/one.rpb --output-dir=%t/one && cmp %t/ops/y.npy %t/one/y.npy
// RUN: sed 's/SCHEDULE/width = 32, rows = 3, columns = 1000/' %s > %t/three.mlir && reprise-compile %t/three.mlir --target=cpu:x86-64-v3 -o %t/three.rpb
// RUN: reprise-run %t/three.rpb --output-dir=%t/three && cmp %t/ops/y.npy %t/three/y.npy
// RUN: sed 's/SCHEDULE/width = 4, rows = 1, columns = 1000, threads = 32, block = 256, together = 2/' %s > %t/plain.mlir && reprise-compile %t/plain.mlir --target=cuda:sm_90 -o %t/plain.rpb
// RUN: %gpu reprise-run %t/plain.rpb --device=cuda --output-dir=%t/plain && cmp %t/ops/y.npy %t/plain/y.npy
// RUN: sed 's/SCHEDULE/width = 4, rows = 1, columns = 1000, threads = 32, block = 64, together = 2, memory = shared/' %s > %t/shared.mlir && reprise-compile %t/shared.mlir --target=cuda:sm_90 -o %t/shared.rpb
// RUN: %gpu reprise-run %t/shared.rpb --device=cuda --output-dir=%t/shared && cmp %t/ops/y.npy %t/shared/y.npy
// RUN: sed 's/SCHEDULE/width = 4, rows = 1, columns = 1000, threads = 32, block = 32, together = 1, memory = all/' %s > %t/all.mlir && reprise-compile %t/all.mlir --target=cuda:sm_90 -o %t/all.rpb
// RUN: %gpu reprise-run %t/all.rpb --device=cuda --output-dir=%t/all && cmp %t/ops/y.npy %t/all/y.npy

nest.program @twice elements 4000 shared 0 {
  nest.kernel rows(%i = 4) columns(%j = 1000) buffers(%x = input 0, %y = output 0) schedule <SCHEDULE> {
    %0 = nest.read %x[%i * 1000 + %j] : tensor<f32>
    %1 = nest.reduce max %0 : tensor<f32>
    %2 = nest.reduce sum %0 : tensor<f32>
    %3 = reprise.mul %2, %1 : tensor<f32>
    %4 = reprise.sub %0, %3 : tensor<f32>
    nest.store elements %4, %y : tensor<f32>
  }
}

!t = tensor<4x1000xf32>
reprise.program @train devices [0] (
    %x: !t {reprise.name = "x", reprise.role = "input", reprise.init = #reprise.normal<0.0, 1.0>},
    %seed: tensor<i64> {reprise.name = "seed", reprise.role = "seed"},
    %offset: tensor<i64> {reprise.name = "offset", reprise.role = "offset"})
    -> (!t {reprise.name = "y"}, tensor<i64> {reprise.name = "offset"}) {
  %y = exec.launch (%a = %x) : (!t) -> !t {
    %0 = reprise.max %a dims [1] : (!t) -> tensor<4xf32>
    %1 = reprise.sum %a dims [1] : (!t) -> tensor<4xf32>
    %2 = reprise.mul %1, %0 : tensor<4xf32>
    %3 = reprise.broadcast %2 dims [0] : (tensor<4xf32>) -> !t
    %4 = reprise.sub %a, %3 : !t
    exec.return %4 : !t
  } {exec.nests = @twice}
  reprise.return %y, %offset : !t, tensor<i64>
}
