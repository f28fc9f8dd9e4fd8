"""Prints an entry at the head of a chain of functions: chain.py calls|gradients LENGTH OP."""
import sys

kind, length, op = sys.argv[1], int(sys.argv[2]), sys.argv[3]
use = {
    "calls": "func.call @{}(%x) : (tensor<f32>) -> tensor<f32>",
    "gradients": "reprise.value_and_grad @{}(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)",
}[kind]
results = {"calls": "%0", "gradients": "%v, %0"}[kind]

names = ["train"] + ["f%d" % i for i in range(length)]
for name, callee in zip(names, names[1:]):
    visibility = "" if name == "train" else "private "
    print("func.func %s@%s(%%x: tensor<f32>) -> tensor<f32> {" % (visibility, name))
    print("  %s = %s\n  return %%0 : tensor<f32>\n}" % (results, use.format(callee)))
print("func.func private @%s(%%x: tensor<f32>) -> tensor<f32> {" % names[-1])
print("  %%0 = reprise.%s %%x : tensor<f32>\n  return %%0 : tensor<f32>\n}" % op)
