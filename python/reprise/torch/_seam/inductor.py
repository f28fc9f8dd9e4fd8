"""Private names of Inductor: its compilation, code and choices. This module imports much of Inductor."""

from torch._inductor import config, ir, lowering
from torch._inductor.choices import InductorChoices
from torch._inductor.codegen import cpp, wrapper
from torch._inductor.codegen.cpp import CppOverrides, CppScheduling, CppVecOverrides, TilingSelect
from torch._inductor.compile_fx import compile_fx_inner
from torch._inductor.cpu_vec_isa import pick_vec_isa
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.utils import IndentedBuffer
from torch._inductor.utils import get_donated_idxs as list_given
from torch._inductor.virtualized import V

from .versions import SINCE_2_13

if SINCE_2_13:
    from torch._inductor.compile_fx import compile_fx
else:
    from .before_2_13 import compile_fx

select_tiling = TilingSelect.select_tiling
select_tiling_indices = TilingSelect._select_tiling_indices

__all__ = ["CppOverrides", "CppScheduling", "CppVecOverrides", "IndentedBuffer", "InductorChoices", "TilingSelect", "V", "compile_fx",
           "compile_fx_inner", "config", "cpp", "ir", "list_given", "lowering", "pick_vec_isa", "select_decomp_table", "select_tiling",
           "select_tiling_indices", "wrapper"]
