// A plan on a program gives it its form and puts its choices on the ops; what `memory` needs of it stays.
// RUN: reprise-opt %s --split-input-file --verify-diagnostics --reprise-apply-plan | FileCheck %s

// CHECK-LABEL: func.func @choices
// CHECK-SAME: reprise.plan = #reprise.plan<enough_arena = 4096>
func.func @choices(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<
    choices = [#reprise.choice<save>, #reprise.choice<replay>, #reprise.choice<save>], enough_arena = 4096>} {
  // CHECK: reprise.tanh {{.*}}reprise.choices = [#reprise.choice<save>]
  // CHECK: reprise.exp {{.*}}reprise.choices = [#reprise.choice<replay>]
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %0 {reprise.primal} : tensor<4xf32>
  %2 = reprise.mul %0, %1 {reprise.cotangent} : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Ops move into the plan's order, in which they are one scope.
// CHECK-LABEL: func.func @order
// CHECK-SAME: reprise.one_scope
// CHECK-NOT: reprise.plan
func.func @order(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {reprise.plan = #reprise.plan<order = [1, 0, 2]>} {
  // CHECK: reprise.exp
  // CHECK: reprise.tanh
  // CHECK: reprise.mul
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %x {reprise.primal} : tensor<4xf32>
  %2 = reprise.mul %0, %1 {reprise.cotangent} : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Numbers of values that wait on the host.
// CHECK-LABEL: func.func @offloaded
func.func @offloaded(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<offloaded = [0]>} {
  // CHECK: %[[VALUE:.*]] = reprise.tanh
  // CHECK: reprise.offload %[[VALUE]]
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.mul %0, %0 {reprise.cotangent} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A loop is replaced by its iterations.
// CHECK-LABEL: func.func @unrolled
// CHECK-COUNT-3: reprise.tanh
// CHECK-NOT: reprise.loop
func.func @unrolled(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {reprise.plan = #reprise.plan<form = [#reprise.form<unrolled>]>} {
  %0 = reprise.loop 3 (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = reprise.tanh %a : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan has choices for 1 values, not 3}}
func.func @few(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<choices = [#reprise.choice<save>]>} {
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %0 {reprise.primal} : tensor<4xf32>
  %2 = reprise.mul %0, %1 {reprise.cotangent} : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan runs an op before one that the op reads from}}
func.func @backwards(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<order = [1, 0]>} {
  %0 = reprise.tanh %x {reprise.primal} : tensor<4xf32>
  %1 = reprise.exp %0 {reprise.primal} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan has choices, and the program has no gradient}}
func.func @no_gradient(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<choices = [#reprise.choice<save>]>} {
  %0 = reprise.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the plan is for another program: the plan has choices for 1 scopes of bodies, not 0}}
func.func @no_bodies(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<
    form = [#reprise.form<bodies_recomputed>], bodies = [[#reprise.choice<save>]]>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'choices' to be a list of #reprise.choice attributes}}
func.func @words(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<choices = ["save"]>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'form' to be a list of #reprise.form attributes}}
func.func @form(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<form = [1]>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'enough_arena' to be a number of bytes, from 0 on}}
func.func @enough(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.plan = #reprise.plan<enough_arena = -1>} {
  return %x : tensor<4xf32>
}
