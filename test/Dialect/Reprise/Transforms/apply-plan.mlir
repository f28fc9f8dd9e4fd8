// A plan on a program gives it its form and puts its choices on the ops; what `memory` needs of it stays.
// RUN: reprise-opt %s --split-input-file --verify-diagnostics --reprise-apply-plan | FileCheck %s

// CHECK-LABEL: reprise.program @choices
// CHECK-SAME: reprise.plan = #reprise.plan<enough_arena = 4096>
reprise.program @choices devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<
    choices = [#reprise.choice<save>, #reprise.choice<replay>, #reprise.choice<save>], enough_arena = 4096>} {
  // CHECK: reprise.tanh {{.*}}reprise.choices = [#reprise.choice<save>]
  // CHECK: reprise.exp {{.*}}reprise.choices = [#reprise.choice<replay>]
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %0 {reprise.primal} : tensor<4xf32>
  %2 = reprise.mul %0, %1 {reprise.cotangent} : tensor<4xf32>
  reprise.return %2 : tensor<4xf32>
}

// -----

// Ops move into the plan's order, in which they are one scope.
// CHECK-LABEL: reprise.program @order
// CHECK-SAME: reprise.one_scope
// CHECK-NOT: reprise.plan
reprise.program @order devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {reprise.plan = #reprise.plan<order = [1, 0, 2]>} {
  // CHECK: reprise.exp
  // CHECK: reprise.tanh
  // CHECK: reprise.mul
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %x {reprise.primal} : tensor<4xf32>
  %2 = reprise.mul %0, %1 {reprise.cotangent} : tensor<4xf32>
  reprise.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Numbers of values that wait on the host.
// CHECK-LABEL: reprise.program @offloaded
reprise.program @offloaded devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<offloaded = [0]>} {
  // CHECK: %[[VALUE:.*]] = reprise.tanh
  // CHECK: reprise.offload %[[VALUE]]
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.mul %0, %0 {reprise.cotangent} : tensor<4xf32>
  reprise.return %1 : tensor<4xf32>
}

// -----

// A loop is replaced by its iterations.
// CHECK-LABEL: reprise.program @unrolled
// CHECK-COUNT-3: reprise.tanh
// CHECK-NOT: reprise.loop
reprise.program @unrolled devices [0] (%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {reprise.plan = #reprise.plan<form = [#reprise.form<unrolled>]>} {
  %0 = reprise.loop 3 (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = reprise.tanh %a : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  }
  reprise.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan has choices for 1 values, not 3}}
reprise.program @few devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<choices = [#reprise.choice<save>]>} {
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %0 {reprise.primal} : tensor<4xf32>
  %2 = reprise.mul %0, %1 {reprise.cotangent} : tensor<4xf32>
  reprise.return %2 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan runs an op before one that the op reads from}}
reprise.program @backwards devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<order = [1, 0]>} {
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %0 {reprise.primal} : tensor<4xf32>
  reprise.return %1 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan has choices, and the program has no gradient}}
reprise.program @no_gradient devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<choices = [#reprise.choice<save>]>} {
  %0 = reprise.tanh %x : tensor<4xf32>
  reprise.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan has choices for 1 scopes of bodies, not 0}}
reprise.program @no_bodies devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<
    form = [#reprise.form<bodies_recomputed>], bodies = [[#reprise.choice<save>]]>} {
  reprise.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'choices' to be a list of #reprise.choice attributes}}
reprise.program @words devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<choices = ["save"]>} {
  reprise.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'form' to be a list of #reprise.form attributes}}
reprise.program @form devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<form = [1]>} {
  reprise.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'enough_arena' to be a number of bytes, from 0 on}}
reprise.program @enough devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<enough_arena = -1>} {
  reprise.return %x : tensor<4xf32>
}
