"""Private names of Inductor that do not import Inductor: its cache folder, and classes of its hooks."""

from torch._inductor.custom_graph_pass import CustomPartitionerFn
from torch._inductor.runtime.cache_dir_utils import cache_dir

from .versions import SINCE_2_13

if SINCE_2_13:
    from torch._inductor.custom_graph_pass import CustomSchedulerPass
else:
    from .before_2_13 import CustomSchedulerPass

__all__ = ["CustomPartitionerFn", "CustomSchedulerPass", "cache_dir"]
