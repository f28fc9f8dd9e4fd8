"""Ways to use a compiled model, drawn from a seed: the work of programs around it. test_whole_random and
test_plan_random share them.

``Use(seed)`` draws a value for each key of ``CHOICES``, mostly the plain first one. ``Use(seed, compiled="loss")``
fixes some keys; ``without`` names values that are never drawn. ``use.run(model, compile)`` trains a
random_modules.Program for some steps; ``compile(function)`` is torch.compile with a backend, or the function itself
for eager. ``run`` returns a dictionary from names to visible values: detached tensors, None for a missing gradient,
or an ``Error``, with which the program ends. ``judge(found, eager, tolerance)`` lists the wrong names; ``same(found,
other)`` lists the names whose bits differ.

``GROUP`` consecutive seeds share a model, and ``Models`` keeps its compiled functions, because compilation takes most
of the time of a program.
"""
import contextlib
import copy
import random
import re
import threading

import torch
from torch._dynamo.utils import counters
from torch.utils.checkpoint import checkpoint

GROUP = 4
#: Values of "compiled" with passes inside the function. Only the first seed of a group has a backward pass in the
#: compiled function, or threads.
INSIDE = ("inner gradient", "backward", "optimizer")

#: Values of each key; the first one is plain.
CHOICES = {
    # The part that goes through `compile`: the loss, outputs, both; all of these in a region that is not compiled;
    # gradients inside; a step.
    "compiled": ("loss", "outputs", "both", "in a region", *INSIDE),
    # Changes of the storages of parameters and inputs between the passes.
    "memory": ("kept", "refilled", "replaced"),
    # Tensors that are overwritten in place between the passes.
    "written": ("nothing", "a parameter", "the input", "a buffer", "an output"),
    # Backward passes over one graph; the last one may find freed tensors.
    "passes": ("one", "retained", "asked for", "one too many"),
    "order": ("first", "penalty", "product"),
    "hooks": ("none", "copies", "arrays", "on the CPU", "of gradients"),
    # Other work between the passes.
    "between": ("nothing", "evaluation", "inference", "another batch", "a batch that is dropped"),
    "batches": ("one", "accumulated", "outstanding"),
    "threads": ("one", "two"),
}


class Error:
    """Error that ended a program; ``kind`` is "overwritten", "freed" or another text."""

    def __init__(self, error):
        text = str(error)
        # The second text is PyTorch's for one of several views, such as a part of a split, whose base was overwritten.
        is_overwritten = "modified by an inplace operation" in text or "has been modified inplace" in text
        self.kind = "overwritten" if is_overwritten else \
            "freed" if "second time" in text or "already been freed" in text else \
            f"{type(error).__name__}: {re.sub('backend=.[a-z_]+.', 'the backend', text)[:400]}"

    def __repr__(self):
        return f"Error({self.kind})"


class Use:
    def __init__(self, seed, without=(), **fixed):
        # This is not the stream of the program.
        group, draw = random.Random(f"group {seed // GROUP}"), random.Random(f"use {seed}")
        self.seed, self.chosen = seed, {}
        is_first = seed % GROUP == 0
        for key, values in CHOICES.items():
            stream, rate = (group, 0.5) if key == "compiled" else (draw, 0.2 * is_first if key == "threads" else 0.3)
            allowed = [each for each in values[1:] if each not in (*without, *INSIDE)]
            drawn = stream.choice(allowed) if stream.random() < rate and allowed else values[0]
            self.chosen[key] = fixed.get(key, drawn)
        inside = [each for each in INSIDE if each not in without]
        if is_first and inside and "compiled" not in fixed and draw.random() < 0.3:
            self.chosen["compiled"] = draw.choice(inside)
        self._settle()

    def _settle(self):
        """Removes choices that have no meaning beside the other ones."""
        has = self.chosen
        if has["compiled"] in ("backward", "optimizer"):
            has.update(memory="kept", written="nothing", passes="one", order="first", batches="one", threads="one", between="nothing")
            has["hooks"] = "none" if has["hooks"] != "of gradients" else has["hooks"]
        if has["compiled"] == "inner gradient" or has["order"] != "first":
            # A tensor that a hook has packed has no graph; PyTorch's own second passes free different tensors.
            has.update(hooks="none", passes="one", written="nothing")
        if has["compiled"] == "inner gradient":
            has["order"] = "first"
        if has["compiled"] == "in a region":
            has.update(written="nothing", hooks="none", memory="kept", order="first")
        if has["hooks"] != "none":
            has["written"] = "nothing"
        if has["threads"] == "two":
            has.update(compiled="loss", memory="kept", written="nothing", passes="one", order="first", hooks="none", between="nothing",
                       batches="one")

    def __str__(self):
        return "; ".join(f"{key}: {value}" for key, value in self.chosen.items() if value != CHOICES[key][0]) or "plain"

    def run(self, model, compile, steps=2):
        return _Run(self, model, compile).run(steps)


class Models:
    """Cache of the models of the last group, and of their compiled functions."""

    def __init__(self):
        self._group, self._kept, self.model = None, {}, None
        self._before = 0  # frames that Dynamo had compiled before the group

    def run(self, use, make, **options):
        """Returns the values that a program sees if it uses the model so. ``options`` are those of torch.compile;
        without them the model is eager."""
        if self._group != use.seed // GROUP:
            self.drop()
            self._group = use.seed // GROUP
        key = repr((sorted(options.items()), use.chosen["threads"]))
        if key not in self._kept:
            model = make()
            self._kept[key] = model, copy.deepcopy(model.state_dict()), {}
        self.model, state, compiled = self._kept[key]
        model = self.model
        model.load_state_dict(state)
        model.zero_grad()
        model.train()

        def compile(function):
            name = getattr(function, "__name__", "model")
            if options and name not in compiled:
                compiled[name] = torch.compile(function, **options)
            return compiled[name] if options else function
        # A function that is compiled too often would run without its backend.
        with torch._dynamo.config.patch(recompile_limit=64, fail_on_recompile_limit_hit=True):
            found = use.run(model, compile)
        if options and counters["frames"]["ok"] == self._before:
            raise AssertionError("nothing of this group was compiled")
        return found

    def drop(self):
        torch._dynamo.reset()
        self._kept.clear()
        self._before = counters["frames"]["ok"]


class _Run:
    def __init__(self, use, model, compile):
        self.seed, self.has, self.draw, self.model, self.found = use.seed, use.chosen, random.Random(f"run {use.seed}"), model, {}
        self.number = 0  # number of the step
        if model.is_stateful:
            # A region would write buffers twice, threads in any order.
            self.has = {**self.has, "threads": "one", "compiled": "loss" if self.has["compiled"] == "in a region" else self.has["compiled"]}
        self.parameters = [each for each in model.parameters() if each.requires_grad]
        self.optimizer = torch.optim.SGD(self.parameters or [torch.zeros(1)], lr=0.01, momentum=0.9)
        self.function = self._function(compile)

    def _function(self, compile):
        """Computes a loss and outputs from an input."""
        model, optimizer, kind = self.model, self.optimizer, self.has["compiled"]

        def inner(x):
            loss = model(x)
            slope, = torch.autograd.grad(loss, x, create_graph=True)
            return loss + slope.square().mean()

        def backward(x):
            loss = model(x)
            loss.backward()
            return loss.detach()

        def step(x):
            optimizer.zero_grad()
            loss = model(x)
            loss.backward()
            optimizer.step()
            return loss.detach()

        if kind in ("outputs", "both"):
            outputs = compile(model.outputs if kind == "outputs" else model.loss_and_outputs)
            return lambda x: outputs(x) if kind == "both" else (None, *outputs(x))
        function = compile({"inner gradient": inner, "backward": backward, "optimizer": step}.get(kind, model))
        if kind == "in a region":
            return lambda x: (checkpoint(function, x, use_reentrant=False),)
        return lambda x: (function(x),)

    def run(self, steps):
        torch.manual_seed(self.seed)
        hook = None
        if self.has["hooks"] == "of gradients" and self.parameters:
            # If there is no path to the parameter, PyTorch's compiled functions call a hook with None, and eager calls
            # no hook.
            hook = self.parameters[0].register_hook(lambda gradient: None if gradient is None else gradient * 2)
        try:
            for number in range(steps):
                self._threads(number) if self.has["threads"] == "two" else self._step(number)
        except RuntimeError as error:
            self.found["error"] = Error(error)
        finally:
            if hook:
                hook.remove()
        return self.found

    def _see(self, name, value):
        while name in self.found:  # names of an earlier batch
            name += ", again"
        self.found[name] = value.detach().clone() if isinstance(value, torch.Tensor) else value

    def _input(self):
        return (self.model.input + 0.1 * torch.randn_like(self.model.input)).requires_grad_()

    def _forward(self, x):
        """The loss of a batch and all outputs."""
        kinds = {"copies": (torch.clone, lambda each: each), "arrays": (lambda each: each.detach().clone().numpy(), torch.from_numpy)}
        context = contextlib.nullcontext()
        if self.has["hooks"] in kinds:
            context = torch.autograd.graph.saved_tensors_hooks(*kinds[self.has["hooks"]])
        elif self.has["hooks"] == "on the CPU":
            context = torch.autograd.graph.save_on_cpu()
        with context:
            loss, *outputs = self.function(x)
            if loss is None or outputs:
                chosen = self.draw.sample(range(len(outputs)), self.draw.randrange(1, len(outputs) + 1))
                parts = [outputs[place].square().mean() for place in sorted(chosen)]
                loss = sum(parts) if loss is None else loss + sum(parts)
        if self.has["hooks"] == "of gradients" and loss.requires_grad:
            loss.register_hook(lambda gradient: gradient * 3)
        return loss, outputs

    def _step(self, number):
        self.number = number
        self.optimizer.zero_grad()
        inputs = [self._input() for _ in range(1 if self.has["batches"] == "one" else 3)]
        waiting = []
        for place, x in enumerate(inputs):
            loss, outputs = self._forward(x)
            self._see(f"step {number}, loss {place}", loss)
            for at, each in enumerate(outputs):
                self._see(f"step {number}, output {place}.{at}", each)
            waiting.append((loss, outputs, x))
            if self.has["batches"] != "outstanding":
                self._finish(*waiting.pop())
        while waiting:
            self._finish(*waiting.pop(self.draw.randrange(len(waiting))))
        for place, x in enumerate(inputs):
            self._see(f"step {number}, gradient of input {place}", x.grad)
        for name, each in self.model.named_parameters():
            self._see(f"step {number}, gradient of {name}", each.grad)
        if self.has["compiled"] != "optimizer":
            self.optimizer.step()
        for name, each in (*self.model.named_buffers(), *self.model.named_parameters()):
            self._see(f"step {number}, value of {name}", each)

    def _finish(self, loss, outputs, x):
        """Runs the work between the passes, and the backward pass."""
        if not loss.requires_grad:
            return
        self._between(x)
        self._move([*self.parameters, x])
        self._write(outputs, x)
        if self.has["order"] == "penalty":
            slope, = torch.autograd.grad(loss, x, create_graph=True)
            loss = loss + slope.square().mean()
        elif self.has["order"] == "product":
            slopes = torch.autograd.grad(loss, self.parameters, create_graph=True, allow_unused=True)
            parts = [each.square().sum() for each in slopes if each is not None and each.requires_grad]
            if not parts:
                return
            loss = sum(parts)
        if self.has["passes"] == "asked for":
            for place, each in enumerate(torch.autograd.grad(loss, [x, *self.parameters], retain_graph=True, allow_unused=True)):
                self._see(f"step {self.number}, gradient {place} that was asked for", each)
        loss.backward(retain_graph=self.has["passes"] == "retained")
        if self.has["passes"] in ("retained", "one too many"):
            loss.backward()

    def _between(self, x):
        kind = self.has["between"]
        with contextlib.ExitStack() as stack:
            if kind in ("evaluation", "inference"):
                stack.enter_context(torch.no_grad() if kind == "evaluation" else torch.inference_mode())
                stack.callback(self.model.train)
                self.model.eval()
            if kind != "nothing" and self.has["compiled"] != "inner gradient":
                loss, *outputs = self.function(x.detach() * 0.5)
                loss = sum(each.square().mean() for each in outputs) if loss is None else loss
                self._see(f"what ran {len(self.found)}", loss)
                if kind == "another batch" and loss.requires_grad:
                    loss.backward()

    def _move(self, tensors):
        for each in tensors:
            if self.has["memory"] == "kept" or self.draw.random() < 0.3:
                continue
            values, storage = each.detach().clone(), each.untyped_storage()
            if self.has["memory"] == "replaced":
                each.data = values
                continue
            size = storage.size()
            storage.resize_(0)
            _ = [torch.full_like(values, float("nan")) for _ in range(3)]
            storage.resize_(size)
            each.data.copy_(values)

    def _write(self, outputs, x):
        kind = self.has["written"]
        buffers = [each for each in self.model.buffers() if each.is_floating_point()]
        written = {"a parameter": self.parameters, "the input": [x], "a buffer": buffers,
                   "an output": [each for place, each in enumerate(outputs) if place in self.model.plain]}.get(kind, [])
        if written:
            with torch.no_grad():
                self.draw.choice(written).mul_(1.25)

    def _threads(self, number):
        """Gradients of inputs and parameters, asked for in two threads at once."""
        inputs = [self._input() for _ in range(2)]
        made, errors = [None, None], []

        limits = {name: getattr(torch._dynamo.config, name) for name in ("recompile_limit", "fail_on_recompile_limit_hit")}

        def work(place):
            torch.set_num_threads(1)  # Each thread has its own number, on which bits depend, and its own limits.
            try:
                with torch._dynamo.config.patch(limits):
                    loss = self.function(inputs[place])[0]
                    made[place] = [loss, *torch.autograd.grad(loss, [inputs[place], *self.parameters], allow_unused=True)]
            except Exception as error:  # noqa: BLE001  told below
                errors.append(error)

        threads = [threading.Thread(target=work, args=(place,)) for place in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        if errors:
            raise RuntimeError(f"in a thread: {errors[0]}")
        for place, tensors in enumerate(made):
            for at, each in enumerate(tensors):
                self._see(f"step {number}, thread {place}, {at}", each)


def _is_near(left, right, tolerance):
    if (left is None) != (right is None):
        return False
    if right is None:
        return True
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    scale = right.abs().max() if right.numel() else 0
    return bool(((left - right).abs() <= tolerance * (scale + 1e-3)).all())


def until_refusal(eager, undisturbed):
    """Returns the values of a program that eager refuses, because a tensor is overwritten, if the backend does not read
    the tensor.   |   The values are eager's, and the gradient for which eager asked, of the run without writes."""
    seen = {name: value for name, value in eager.items() if name != "error"}
    name = "step 0, gradient of input 0"
    if "step 0, loss 1" not in eager and name in undisturbed:
        seen[name] = undisturbed[name]
    return seen


def judge(found, eager, tolerance, undisturbed=None, is_strict=False):
    """Lists the names that are wrong beside eager's. Eager's error may also be the result of the run without writes,
    ``undisturbed``.   |   ``is_strict``: without replays the backward pass must not report overwritten tensors that
    eager's does not read."""
    left, right = found.get("error"), eager.get("error")
    if right and undisturbed and right.kind == "overwritten" and (not left or left.kind == "freed"):
        seen = until_refusal(eager, undisturbed)
        return [name for name, value in seen.items() if name not in found or not _is_near(found[name], value, tolerance)]
    if left and left.kind == "overwritten" and not is_strict:
        # A plan that replays reads other tensors.
        return [name for name in found if name != "error" and name in eager and not _is_near(found[name], eager[name], tolerance)]
    if (left.kind if left else None) != (right.kind if right else None):
        return [f"{left}, eager: {right}"]
    return [name for name in eager if name != "error" and (name not in found or not _is_near(found[name], eager[name], tolerance))]


def settled(names, eager, nudged, tolerance):
    """Keeps the names that eager decides: its own value stays near if the parameters move by a rounding
    (``nudged``)."""
    return [name for name in names if not isinstance(eager.get(name), torch.Tensor) or name not in nudged
            or _is_near(nudged[name], eager[name], tolerance)]


def same(found, other):
    """Lists the names whose bits differ."""
    errors = [str(each["error"]) for each in (found, other) if "error" in each]
    if len(set(errors)) > 1 or len(errors) == 1 and "overwritten" not in errors[0]:
        return [f"{found.get('error')}, {other.get('error')}"]
    return [name for name, value in other.items() if name in found and name != "error" and not _is_equal(found[name], value)]


def _is_equal(left, right):
    if not isinstance(left, torch.Tensor) or not isinstance(right, torch.Tensor):
        return left is right
    return left.shape == right.shape and left.dtype == right.dtype and torch.allclose(left, right, rtol=0, atol=0, equal_nan=True)
