// Errors name the argument, the dimension and the axis, at the op of the dialect shard.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --reprise-import

// expected-note@+1 {{the first grid}}
shard.grid @mesh(shape = 2)
// expected-error@+1 {{expected one grid in a module}}
shard.grid @other(shape = 2)
func.func @train(%w: tensor<4x8xf32>) { return }

// -----

// expected-error@+1 {{expected a known size of each axis of 'mesh'}}
shard.grid @mesh(shape = 2x?)
func.func @train(%w: tensor<4x8xf32>) { return }

// -----

// expected-error@+1 {{expected up to 3 axes (data, stage and model) of 'mesh', got 4}}
shard.grid @mesh(shape = 2x2x2x2)
func.func @train(%w: tensor<4x8xf32>) { return }

// -----

// expected-error@+1 {{expected 'reprise.axes' to be a name for each axis of the grid, some of "data", "stage" and "model" in this order}}
shard.grid @mesh(shape = 2x2) {reprise.axes = ["model", "data"]}
func.func @train(%w: tensor<4x8xf32>) { return }

// -----

// expected-error@+1 {{expected 'reprise.shard' to be a unit attribute or "model" for each dimension, and "model" at most once (argument 0)}}
func.func @train(%w: tensor<4x8xf32> {reprise.shard = ["data", unit]}) { return }

// -----

shard.grid @mesh(shape = 2x2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  %s = shard.sharding @mesh split_axes = [[], [2]] : !shard.sharding
  // expected-error@+1 {{dimension 1 of 'w' is cut along axis 2, but the grid has 2 axes, numbered from 0}}
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  %s = shard.sharding @mesh split_axes = [[], [], [1]] : !shard.sharding
  // expected-error@+1 {{dimension 2 of 'w' is cut, but 'w' has 2 dimensions}}
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  %s = shard.sharding @mesh split_axes = [[0, 1]] : !shard.sharding
  // expected-error@+1 {{dimension 0 of 'w' is cut along 2 axes: expected one}}
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w", reprise.role = "parameter"}) {
  %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  // expected-error@+1 {{dimension 0 of the parameter 'w' is cut along the axis 'data', but replicas own rows of arrays without a sharding}}
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x2x2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  %s = shard.sharding @mesh split_axes = [[1]] : !shard.sharding
  // expected-error@+1 {{dimension 0 of 'w' is cut along the axis 'stage', which cuts ops and no arrays}}
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  // expected-error@+1 {{expected no halos of 'w': parts do not overlap}}
  %s = shard.sharding @mesh split_axes = [[0]] halo_sizes = [1, 1] : !shard.sharding
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  // expected-error@+1 {{expected no offsets of 'w': parts of an array have equal sizes}}
  %s = shard.sharding @mesh split_axes = [[0]] sharded_dims_offsets = [0, 1, 4] : !shard.sharding
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w", reprise.shard = [unit, "model"]}) {
  %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  // expected-error@+1 {{'w' has another sharding: [unit, "model"] as 'reprise.shard'}}
  %0 = shard.shard %w to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x1)
func.func @train(%x: tensor<4x8xf32> {reprise.name = "x", reprise.batch_dim = 0 : i64}) {
  %s = shard.sharding @mesh split_axes = [[], [0]] : !shard.sharding
  // expected-error@+1 {{'x' has another sharding: 0 : i64 as 'reprise.batch_dim'}}
  %0 = shard.shard %x to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  %0 = reprise.tanh %w : tensor<4x8xf32>
  // expected-error@+1 {{expected a sharding of an argument of 'train': shardings of all other values follow}}
  %1 = shard.shard %0 to %s : tensor<4x8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2)
func.func @train(%w: tensor<4x8xf32> {reprise.name = "w"}) {
  %s = shard.get_sharding %w : tensor<4x8xf32> -> !shard.sharding
  // expected-error@+1 {{expected the sharding of 'w' from a shard.sharding}}
  %1 = shard.shard %w to %s : tensor<4x8xf32>
  return
}
