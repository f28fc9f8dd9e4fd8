// The phases behind autodiff treat the device programs of a module alike, and leave other functions alone.

// RUN: reprise-opt %s -o %t.none.mlir
// RUN: sed -n '/@plain/,/^  }/p' %t.none.mlir > %t.plain
// DEFINE: %{phase} = checkpoint
// DEFINE: %{run} = reprise-opt %s --reprise-to="%{phase} from=autodiff" -o %t.%{phase}.mlir && \
// DEFINE:   sed -n '/@first/,/^  }/p' %t.%{phase}.mlir | sed 's/@first/@second/; s/devices \[0\]/devices [1]/' > %t.first && \
// DEFINE:   sed -n '/@second/,/^  }/p' %t.%{phase}.mlir > %t.second && cmp %t.first %t.second && \
// DEFINE:   sed -n '/@plain/,/^  }/p' %t.%{phase}.mlir | cmp - %t.plain
// RUN: %{run}
// REDEFINE: %{phase} = kernels
// RUN: %{run}
// REDEFINE: %{phase} = memory
// RUN: %{run}
// RUN: FileCheck %s --input-file=%t.memory.mlir

// A phase goes on where another one has ended.
// RUN: reprise-opt %t.checkpoint.mlir --reprise-to="memory from=checkpoint" | cmp - %t.memory.mlir

// RUN: sed 's/reprise.program \(@[a-z]*\) devices \[[01]\]/func.func \1/; s/reprise.return/return/' %s > %t.unmarked.mlir
// RUN: %expect 1 reprise-opt %t.unmarked.mlir --reprise-to="memory from=autodiff" 2>&1 | FileCheck %s --check-prefix=UNMARKED
// UNMARKED: error: expected a device program, a 'reprise.program'
// RUN: %expect 1 reprise-opt %s --reprise-to="memory from=lunch" 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: unknown phase 'lunch'
// RUN: not reprise-opt %s --reprise-to='partition stages=99999999999' 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: expected stages from 1 to 1024, got 99999999999
// RUN: not reprise-opt %s --reprise-to='partition stages=2 chunks=99999999999' 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: expected chunks from 1 to 64, got 99999999999

// RUN: not reprise-opt %s --reprise-to='partition microbatch=2' 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: unknown option 'microbatch=2'
// RUN: not reprise-opt %s --reprise-to='partition microbatches=few' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: 'few' value invalid
// RUN: reprise-opt --help | FileCheck %s --check-prefix=HELP
// HELP: --reprise-to
// HELP: --microbatches

// CHECK-LABEL: reprise.program @first
// CHECK-SAME: exec.arena_bytes = {{[0-9]+}} : i64, reprise.replayed_ops = 1 : i64
// CHECK: exec.launch
// CHECK-LABEL: func.func @plain
// CHECK-NOT: exec.launch
// CHECK-LABEL: reprise.program @second
// CHECK-SAME: exec.arena_bytes = {{[0-9]+}} : i64, reprise.replayed_ops = 1 : i64
// CHECK: exec.launch
#again = #reprise.label<must_recompute>

reprise.program @first devices [0] (%x: tensor<64x64xf32>, %dy: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<64x64xf32>
  %b = reprise.dot_general %a, %a contracting [1] x [0] {reprise.primal, reprise.block = array<i64: 1>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<64x64xf32>
  %d = reprise.dot_general %a, %c contracting [1] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  reprise.return %d : tensor<64x64xf32>
}

func.func @plain(%x: tensor<64x64xf32>, %dy: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<64x64xf32>
  %b = reprise.dot_general %a, %a contracting [1] x [0] {reprise.primal, reprise.block = array<i64: 1>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<64x64xf32>
  %d = reprise.dot_general %a, %c contracting [1] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

reprise.program @second devices [1] (%x: tensor<64x64xf32>, %dy: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<64x64xf32>
  %b = reprise.dot_general %a, %a contracting [1] x [0] {reprise.primal, reprise.block = array<i64: 1>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<64x64xf32>
  %d = reprise.dot_general %a, %c contracting [1] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  reprise.return %d : tensor<64x64xf32>
}
