// RUN: reprise-opt %s --reprise-to=autodiff --reprise-export-problem="target=cpu:x86-64-v3" -o /dev/null | FileCheck %s
// RUN: reprise-opt %s --reprise-to=autodiff --reprise-export-problem="target=cpu:x86-64-v3 output=%t.json" | FileCheck %s --check-prefix=IR
// RUN: reprise-opt %s --reprise-to=autodiff | FileCheck %s --check-prefix=IR
// RUN: %python %src/test/Tools/Inputs/validate.py %src/docs/reference/schemas/planning-problem.schema.json %t.json && reprise-plan checkpoint %t.json --budget=100%%
// RUN: reprise-opt %s --reprise-to=autodiff --reprise-export-problem="target=cpu:x86-64-v3 threads=1 output=%t.1.json" -o /dev/null && not cmp %t.json %t.1.json
// RUN: %expect 1 reprise-opt %s --reprise-to=autodiff --reprise-export-problem="scope=1" 2>&1 | FileCheck %s --check-prefix=SCOPE
// SCOPE: error: expected a scope below 1, the number of gradients, but got 1
// RUN: %expect 1 reprise-opt %s --reprise-to=autodiff --reprise-export-problem="output=%t.none/p.json" 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: cannot write '{{.*}}.none/p.json': No such file or directory
// RUN: %expect 1 reprise-opt %s --reprise-to=autodiff --reprise-export-problem="target=abacus" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}abacus
// RUN: %expect 1 reprise-opt %s --reprise-export-problem="target=cpu:x86-64-v3" 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: expected one device program, got 0

// Of several programs one is named.
// RUN: reprise-opt %s --reprise-to=autodiff | sed -n '/reprise.program @train/,/^  }/p' | sed 's/@train/@other/;s/devices \[0\]/devices [1]/' > %t.second
// RUN: reprise-opt %s --reprise-to=autodiff | sed '/^}/d' > %t.two && cat %t.second >> %t.two && echo '}' >> %t.two
// RUN: reprise-opt %t.two --reprise-export-problem="target=cpu:x86-64-v3 program=other output=%t.other.json" -o /dev/null
// RUN: reprise-opt %t.two --reprise-export-problem="target=cpu:x86-64-v3 program=train output=%t.train.json" -o /dev/null && cmp %t.train.json %t.other.json
// RUN: %expect 1 reprise-opt %t.two --reprise-export-problem="target=cpu:x86-64-v3" 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: expected one device program, got 2: name it by 'program'
// RUN: %expect 1 reprise-opt %t.two --reprise-export-problem="target=cpu:x86-64-v3 program=third" 2>&1 | FileCheck %s --check-prefix=THIRD
// THIRD: error: there is no device program 'third'

// The problem has labels, blocks, what the backward pass reads and what leaves the step; the graph stays as it is.
// CHECK: {"version": 1,
// CHECK-NEXT: "launches": [[LAUNCHES:[0-9]+]],
// CHECK-NEXT: "total_cost": {{[0-9.e-]+}},
// CHECK-NEXT: "launch_cost": 5e-07,
// CHECK-NEXT: "byte_cost": {{[0-9.e-]+}},
// CHECK-NEXT: "units": [
// CHECK-NEXT: "other_buffers": [],
// CHECK-NEXT: "waits": {{\[}}[], [0], {{.*}}],
// CHECK-NEXT: "operations": [
// CHECK-NEXT: {"name": "dot_general", "kind": "contraction", "unit": 0, "launch": 0, "cost": {{[0-9.e-]+}}, "flops": {{[0-9]+}}, "operands": [null, null], "results": [{"name": "dot_general#0:0", "bytes": 256, "label": "must_save"}]},
// CHECK-NEXT: {"name": "tanh", "kind": "elementwise", "unit": 0, "launch": {{[0-9]+}}, "cost": {{[0-9.e-]+}}, "flops": {{[0-9]+}}, "operands": [0], "results": [{"name": "layer/tanh#0:0", "bytes": 256
// CHECK: "outlives": true}]},
// CHECK-NEXT: {"name": "mul", "kind": "elementwise", "backward": true,
// IR-LABEL: reprise.program @train
// IR: reprise.dot_general
func.func private @loss(%w: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> tensor<f32> {
  %y = reprise.dot_general %x, %w contracting [1] x [0] {reprise.label = #reprise.label<must_save>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = reprise.tanh %y : tensor<8x8xf32> loc("layer")
  %e = reprise.exp %t : tensor<8x8xf32>
  %l = reprise.sum %e dims [0, 1] : (tensor<8x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func @train(%w: tensor<8x8xf32> {reprise.role = "parameter", reprise.name = "w"}, %x: tensor<8x8xf32> {reprise.role = "input", reprise.name = "x"})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<8x8xf32> {reprise.name = "g"}) {
  %l, %g = reprise.value_and_grad @loss(%w, %x) wrt [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>)
  return %l, %g : tensor<f32>, tensor<8x8xf32>
}
