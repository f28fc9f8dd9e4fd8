"""Finds the derivatives that autograd has. If eager finds no path, a gradient is None, not zeros, on which weight decay
and momentum act.

The answer is autograd's: the graph runs on tensors without elements, and its gradients of every order are built on
them.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import torch

from ._seam.dynamo import without_compiled_autograd
from ._tracing import tracing
from ._whole_functional import Functional

#: Function from arguments of a level, tensors without elements, to its gradients; None without a path.
Gradients = Callable[[Sequence[torch.Tensor]], list[Any]]


def _points(arguments: Sequence[torch.Tensor], wanted: Sequence[int]) -> list[torch.Tensor]:
    """Returns the arguments, of which the wanted ones have gradients even if the next level needs none of them."""
    return [each.detach().requires_grad_() if number in wanted and not each.requires_grad else each
            for number, each in enumerate(arguments)]


def _derivatives(values: Sequence[Any], arguments: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor]) -> list[Any]:
    """Returns the gradients of those values that have any."""
    kept = [(value, cotangent) for value, cotangent in zip(values, cotangents)
            if isinstance(value, torch.Tensor) and value.requires_grad]
    if not kept or not arguments:
        return [None] * len(arguments)
    return list(torch.autograd.grad([value for value, _ in kept], list(arguments), [cotangent for _, cotangent in kept],
                                    create_graph=True, allow_unused=True))


class Paths:
    """Gradients of one level, as autograd builds them: those of ``wanted`` arguments, by number."""

    def __init__(self, gradients: Gradients, examples: Sequence[torch.Tensor], wanted: Sequence[int]) -> None:
        self._gradients, self._examples = gradients, list(examples)
        self.wanted = list(wanted)
        # Caches of one object each: functools.cache would keep graphs alive.
        self.differentiable = functools.cache(self._find_differentiable)
        self.following = functools.cache(self._follow)

    @functools.cached_property
    def reached(self) -> list[bool]:
        """Returns, for each gradient, whether there is a path to the argument."""
        return [value is not None for value in self._run(self._gradients, ())]

    def _find_differentiable(self, flags: tuple[bool, ...]) -> list[bool]:
        """Returns, for each gradient, whether it has gradients itself, if flags say so of the arguments."""
        return [value is not None and value.requires_grad for value in self._run(self._gradients, flags)]

    def _follow(self, flags: tuple[bool, ...], given: tuple[bool, ...]) -> "Paths":
        """Returns the next level, for some of the arguments and cotangents of some gradients, with the arguments that a
        gradient reaches."""
        count = len(self._examples)

        def gradients(arguments: Sequence[torch.Tensor]) -> list[Any]:
            arguments = _points(arguments, following.wanted)
            made = [value for value, is_given in zip(self._gradients(arguments[:count]), given) if is_given]
            return _derivatives(made, [arguments[number] for number in following.wanted], arguments[count:])

        cotangents = [self._examples[number] for number, is_given in zip(self.wanted, given) if is_given]
        following = Paths(gradients, self._examples + cotangents, [number for number, flag in enumerate(flags) if flag])
        try:
            made = following._run(gradients, flags)
        except (NotImplementedError, RuntimeError) as error:
            if "not implemented" not in str(error):
                raise
            return following  # eager lacks a derivative that the dialect has
        following.wanted = [number for number, value in zip(following.wanted, made) if value is not None]
        return following

    def _run(self, gradients: Gradients, flags: Sequence[bool]) -> list[Any]:
        fake_mode = self._examples[0].fake_mode  # type: ignore[attr-defined]
        # A fake mode is of one thread at a time, and several threads may run backward passes.
        with tracing(), fake_mode, torch.enable_grad(), without_compiled_autograd():
            arguments = [torch.empty_like(each, requires_grad=False) for each in self._examples]
            for each, flag in zip(arguments, flags):
                each.requires_grad_(flag)
            return gradients(arguments)


class FirstPaths(Paths):
    """Makes the paths of a graph. Its first level takes some primals and cotangents of the paired outputs; ``wanted``
    are places in these."""

    def __init__(self, functional: Functional, primals: Sequence[int], paired: Sequence[int], wanted: Sequence[int]) -> None:
        self._functional, self._primals, self._paired = functional, list(primals), list(paired)
        examples = [functional.arguments[number] for number in primals]
        super().__init__(self._differentiate, examples + [functional.outputs[number].meta["val"] for number in paired], wanted)
        self.restricted = functools.cache(self._restrict)

    def _restrict(self, given: tuple[bool, ...]) -> Paths:
        """Returns the paths if only some outputs have cotangents; the others are zeros, at which no path begins."""
        return Paths(functools.partial(self._differentiate, given=given), self._examples, self.wanted)

    def _differentiate(self, arguments: Sequence[torch.Tensor], given: Sequence[bool] | None = None) -> list[Any]:
        count = len(self._primals)
        primals, arguments = list(self._functional.arguments), _points(arguments, self.wanted)
        for number, argument in zip(self._primals, arguments):
            primals[number] = argument.clone()  # the graph may write to it
        outputs = self._functional.run(primals)
        made = [outputs[number] if given is None or given[place] else None for place, number in enumerate(self._paired)]
        return _derivatives(made, [arguments[place] for place in self.wanted], arguments[count:])
