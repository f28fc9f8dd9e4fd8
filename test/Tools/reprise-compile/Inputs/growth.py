"""Prints a small model that import, or differentiation, multiplies level by level: growth.py calls|gradients LEVELS."""
import sys

kind, levels = sys.argv[1], int(sys.argv[2])
SCALAR, BOTH = "(tensor<f32>) -> tensor<f32>", "(tensor<f32>) -> (tensor<f32>, tensor<f32>)"
STEPS = {
    "calls": ["%a = call @f{below}(%x) : " + SCALAR, "%y = call @f{below}(%a) : " + SCALAR],
    "gradients": ["%v, %g = reprise.value_and_grad @f{below}(%x) wrt [0] : " + BOTH, "%y = reprise.mul %g, %x : tensor<f32>"],
}


def function(name, lines):
    print(f"func.func @{name}(%x: tensor<f32>) -> tensor<f32> {{", *lines, "return %y : tensor<f32>", "}", sep="\n")


function("f0", ["%e = reprise.tanh %x : tensor<f32>", "%y = reprise.mul %e, %x : tensor<f32>"])
for level in range(1, levels):
    function(f"f{level}", [line.format(below=level - 1) for line in STEPS[kind]])
function("train", [line.format(below=levels - 1) for line in STEPS[kind]])
