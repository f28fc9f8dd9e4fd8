"""Private names of Inductor that do not import Inductor: its cache folder, and classes of its hooks."""

from torch._inductor.custom_graph_pass import CustomPartitionerFn, CustomSchedulerPass
from torch._inductor.runtime.cache_dir_utils import cache_dir

__all__ = ["CustomPartitionerFn", "CustomSchedulerPass", "cache_dir"]
