"""Private names of PyTorch's random numbers: ops that run with a generator's state."""

from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state

__all__ = ["run_and_save_rng_state", "run_with_rng_state"]
