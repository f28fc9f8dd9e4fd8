// Shardings of arguments that are not read are errors, and shardings of other values a remark.
// RUN: reprise-opt %s --import-stablehlo -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{the sharding of argument 0 has the axis 'x', which is neither data nor model: add axes=x:data or axes=x:model}}
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "model"=2]>
// expected-error@+1 {{the sharding of argument 0 cuts dimension 0 along several axes: sharding<@mesh, [{"data", "model"}]>}}
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["model"=4]>
// expected-error@+1 {{the sharding of argument 0 cuts dimension 0 along a part of an axis: sharding<@mesh, [{"model":(1)2}]>}}
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model":(1)2}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{the sharding of argument 0 is of an unknown mesh 'mesh'}}
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{the sharding of argument 0 is mhlo.sharding = "{devices=[2]<=[2]}": expected sdy.sharding, which JAX writes with jax_use_shardy_partitioner}}
func.func public @main(%a: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["model"=2]>
// expected-error@+1 {{the sharding of argument 0 is of a sum that is not made: sharding<@mesh, [{}], unreduced={"model"}>}}
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"model"}>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["model"=2]>
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}) -> tensor<4xf32> {
  // expected-remark@+1 {{the sharding of a value that is no argument is not read: it follows from those of the arguments}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"model"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
