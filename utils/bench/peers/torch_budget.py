"""Prints the values that PyTorch's partitioner saves and recomputes under memory budgets, as one JSON line:
torch_budget.py MODEL [BUDGET ...].

Per activation_memory_budget {budget, saved_bytes, flops, forward_flops}: bytes kept for the backward pass, in distinct
storages, without parameters, buffers and inputs; FLOPs of products, convolutions and attention in its graphs, both and
forward.
"""

import json
import sys
import warnings

import torch
import torch._functorch.config
from functorch.compile import min_cut_rematerialization_partition
from models import make
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.compile_fx import select_decomp_table
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

BUDGETS = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0]


def flops_of(node):
    packet = getattr(node.target, "overloadpacket", None)
    values = [each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in node.args]
    if packet == torch.ops.aten._scaled_dot_product_flash_attention_for_cpu:
        return sdpa_flop_count(*(value.shape for value in values[:3]))
    if packet == torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward:
        return sdpa_backward_flop_count(*(value.shape for value in values[:4]))
    return flop_registry[packet](*values, out_val=node.meta["val"]) if packet in flop_registry else 0


def count_flops(graph):
    return sum(flops_of(node) for node in graph.graph.nodes if node.op == "call_function")


def saved_bytes(model, loss, inputs):
    storage = lambda tensor: tensor.untyped_storage().data_ptr()
    known = {storage(tensor) for tensor in (*model.parameters(), *model.buffers(), *inputs)}
    seen = {}

    def pack(tensor):
        if storage(tensor) not in known:
            seen[storage(tensor)] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss(*inputs)
    return sum(seen.values())


def measure(model, inputs, budget):
    """Runs like the backend aot_eager_decomp_partition, and counts the graphs."""
    row = {"budget": budget}

    def partition(*arguments, **named):
        forward, backward = min_cut_rematerialization_partition(*arguments, **named)
        row["forward_flops"] = count_flops(forward)
        row["flops"] = row["forward_flops"] + count_flops(backward)
        return forward, backward

    torch._dynamo.reset()
    run = lambda graph, _: graph.forward
    backend = aot_autograd(fw_compiler=run, bw_compiler=run, decompositions=select_decomp_table, partition_fn=partition)
    with torch._functorch.config.patch(activation_memory_budget=budget):
        return row | {"saved_bytes": saved_bytes(model, torch.compile(model, backend=backend), inputs)}


def main():
    warnings.simplefilter("ignore")
    model, inputs, _ = make(sys.argv[1])
    budgets = [float(text) for text in sys.argv[2:]] or BUDGETS
    rows = [measure(model, inputs, budget) for budget in budgets]
    print(json.dumps({"rows": rows, "version": torch.__version__}))


main()
