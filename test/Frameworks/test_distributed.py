"""Training on several processes: each program has the bits of the same program without a plan, and keeps its budget.

Usage: test_distributed.py [all] [WORD]...    WORD: only scenarios whose names have all words
"""
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

import checks

#: Eager code, and the three ways to compile.
KINDS = {"plan eager": {"backend": "reprise_plan", "options": {"codegen": "eager"}},
         "plan inductor": {"backend": "reprise_plan", "options": {}},
         "whole": {"backend": "reprise", "options": {}}}
#: Largest error of a predicted peak. A thread of gloo may free a buffer of a pipeline within a pass, which counts to the
#: end of the pass. Passes of Inductor's code that keep the graph, as those of zero-bubble schedules do, are predicted by
#: their plan.
NEAR, ABOVE = 0.03, {"plan inductor": 0.05, "zb": 0.05, "zbv": 0.1}
#: Share of a peak that one buffer of a collective takes where a model is sharded as one unit. A thread of gloo frees such a
#: buffer earlier in one step than in the next, so eager steps differ as much.
UNIT = {"fsdp whole": 0.07, "fsdp whole kept": 0.07}
#: Seconds in which a group of processes has to end one more scenario.
SECONDS = 600
#: Scenarios that run by default, in which faults were found: (processes, wrap, when, where, kind, budget as a share, micro-batches).
CHOSEN = [
    (2, "fsdp", "before", "layers", "plan eager", 0.7, 2),
    (2, "fsdp bf16", "after", "layers", "plan eager", 0.8, 1),
    (2, "fsdp whole", "after", "whole", "plan eager", 0.75, 1),
    (2, "fsdp", "before", "layers", "whole", 0.8, 1),
    (2, "ddp", "before", "layers", "plan eager", 0.7, 2),
    (2, "tp", "after", "layers", "plan eager", 0.7, 1),
    (2, "tp", "after", "layers", "whole", None, 1),
    (2, "1f1b", "", "layers", "plan eager", 0.7, 4),
    (2, "fsdp", "before", "layers", "plan inductor", 0.8, 1),
    (2, "zb", "", "layers", "plan eager", 0.7, 4),
    (2, "zbv", "", "layers", "whole", 0.75, 4),
    (2, "1f1b", "", "layers", "plan inductor", 0.75, 4),
    (4, "hsdp", "before", "layers", "plan eager", 0.7, 1),
    (4, "hsdp", "before", "layers", "whole", 0.75, 1),
]


def everything():
    """Returns combinations: every program with every way to compile, in turn before and after it is wrapped."""
    wraps = ("fsdp", "fsdp kept", "fsdp whole", "fsdp whole kept", "fsdp bf16", "fsdp regions", "ddp", "ddp views", "tp", "tp regions")
    orders = [(when, where) for when in ("before", "after") for where in ("layers", "whole")]
    found = [(2, wrap, *order, kind, 0.75, 1 if wrap.startswith("tp") else 1 + place % 2) for wrap in wraps
             for place, order in enumerate(orders) for kind in KINDS]
    found += [(2, wrap, *orders[number % 4], kind, None, 1) for number, wrap in enumerate(wraps) for kind in KINDS]
    found += [(count, wrap, "", where, kind, 0.75, 4) for count in (2, 4) for wrap in ("gpipe", "1f1b") for where in ("layers", "whole")
              for kind in KINDS]
    found += [(2, wrap, "", "layers", kind, 0.75, 4) for wrap in ("zb", "zbv") for kind in KINDS]
    return found + [(4, wrap, *orders[place], kind, 0.75, 1) for number, wrap in enumerate(("hsdp", "fsdp and tp"))
                    for place in (number, 3 - number) for kind in KINDS]


def name_of(scenario):
    count, wrap, when, where, kind, budget, micro = scenario
    return f"{count} x {wrap}, {when + ' ' if when else ''}{where}, {kind}, {micro} micro, " + (f"{budget:.0%}" if budget else "no budget")


class Rank:
    """Process of a group."""

    def __init__(self):
        import distributed_programs
        import torch

        from reprise.torch import Unsupported
        self.unsupported = Unsupported
        self.programs, self.torch, self.judges = distributed_programs, torch, {}
        torch.set_num_threads(1)
        torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))

    def judge(self, scenario, kind=None):
        """Returns results and peak of the same program in eager code, or without a budget; the latter None if it fails."""
        key = (*scenario[:4], kind, scenario[6]) if kind else (scenario[0], scenario[1], scenario[6])
        if key not in self.judges:
            self.judges[key] = self.programs.train(self.make(scenario, KINDS.get(kind)))
        return self.judges[key]

    def make(self, scenario, options):
        _, wrap, when, where, *_, micro = scenario
        if wrap in self.programs.WRAPS:
            return lambda: self.programs.Training(wrap, when, where, options, micro)
        return lambda: self.programs.Pipeline(wrap, where, options, micro)

    def run(self, scenario):
        """Yields checks: names, results, details."""
        *_, kind, share, _ = scenario
        if kind == "whole" and "tp" in scenario[1]:
            try:
                self.programs.train(self.make(scenario, KINDS[kind]))
                yield "an error", False, ""
            except self.unsupported as error:
                yield "an error that names DTensor and another backend", "DTensor" in str(error) and "reprise_plan" in str(error), str(error)
            return
        p, (expected, peak) = self.programs, self.judge(scenario)
        # The gradient of a dropout in 16 bits has other bits with every backend, "aot_eager" too.
        is_low = "bf16" in scenario[1]
        if kind != "plan eager" or share is None or is_low:
            found, free = self.judge(scenario, kind)
            if kind == "plan eager" and not is_low:
                yield "eager code's bits", p.equal(found, expected), ""
            expected, peak = found, free
        if share is not None:
            yield from self.run_within(scenario, share + 0.4 * ("regions" in scenario[1]), expected, peak)

    def run_within(self, scenario, share, expected, peak):
        """Yields checks of the same program within a share of its peak."""
        kind, p = scenario[4], self.programs
        budget = p.most(peak * share) if kind != "whole" else f"{share:.0%}"
        found, taken = p.train(self.make(scenario, {**KINDS[kind], "options": {**KINDS[kind]["options"], "budget": budget}}))
        yield "the same bits", p.equal(found, expected), ""
        limits, predicted, limit = p.plan_of_step()
        every = [None] * scenario[0]
        self.torch.distributed.all_gather_object(every, limits)
        said = f"peak {peak:,}, limit {limit:,}, taken {taken:,}, {100 * (predicted / taken - 1):+.2f} % predicted"
        if scenario[1] in p.WRAPS:
            yield "one plan", every.count(limits) == len(every), f"{every}"
        if kind != "whole":
            unit = UNIT.get(scenario[1], 0)
            yield "within the budget", taken <= budget * (1 + unit), said
            above = max(ABOVE.get(each, NEAR) for each in (kind, scenario[1]))
            yield "the prediction is near", -NEAR - unit < predicted / taken - 1 < above + unit, said


def run_rank():
    rank = Rank()
    for scenario in json.loads(sys.argv[2]):
        begin = time.time()
        try:
            found = list(rank.run(scenario))
        except Exception as error:  # noqa: BLE001  the other ranks wait in vain, so that the group ends
            import traceback
            text = traceback.format_exc()
            print(json.dumps({"scenario": scenario, "error": f"{type(error).__name__}: {error}"[:1500] + (text[-2500:] if os.environ.get("TRACE") else "")}), flush=True)
            os._exit(1)
        print(json.dumps({"scenario": scenario, "found": found, "seconds": time.time() - begin}), flush=True)
    rank.torch.distributed.destroy_process_group()


def run_group(scenarios, folder):
    """Runs scenarios on one group of processes; returns the lines of each rank."""
    count = scenarios[0][0]
    outputs = [open(os.path.join(folder, f"rank{rank}"), "w+") for rank in range(count)]
    port = str(29600 + os.getpid() % 2000)
    ranks = [subprocess.Popen([sys.executable, __file__, "rank", json.dumps(scenarios)], stdout=outputs[rank], stderr=subprocess.STDOUT,
                              env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1",
                                   "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}) for rank in range(count)]
    end, written = time.time() + SECONDS, 0
    while any(each.poll() is None for each in ranks) and not any(each.poll() for each in ranks) and time.time() < end:
        time.sleep(0.2)
        if (now := sum(os.path.getsize(each.name) for each in outputs)) > written:
            end, written = time.time() + SECONDS, now
    time.sleep(1.0)
    for each in ranks:
        each.kill()
        each.wait()
    lines = []
    for each in outputs:
        each.seek(0)
        lines.append(each.read().splitlines())
        each.close()
    return lines


def report(scenarios, lines):
    """Makes checks of the ranks' lines; returns the scenarios that have not run."""
    made = [[json.loads(line) for line in each if line.startswith('{"scenario"')] for each in lines]
    for place, scenario in enumerate(scenarios):
        every = [each[place] for each in made if len(each) > place]
        errors = [each["error"] for each in every if "error" in each]
        if errors or len(every) < len(made):
            output = "\n".join(line for each in lines for line in each[-8:] if not line.startswith('{"scenario"'))
            checks.check(name_of(scenario), False, " | ".join(errors) or f"a rank has ended\n{output[-3000:]}")
            return scenarios[place + 1:]
        print(f"   {name_of(scenario)}: {every[0]['seconds']:.1f} s")
        for number, (name, _, _) in enumerate(every[0]["found"]):
            bad = [f"rank {rank}: {each['found'][number][2]}" for rank, each in enumerate(every) if not each["found"][number][1]]
            checks.check(f"{name_of(scenario)}: {name}", not bad, "; ".join(bad))
            if number == len(every[0]["found"]) - 1 and not bad:
                print("   " + " | ".join(each["found"][number][2] for each in every))
    return []


def main():
    if sys.argv[1:2] == ["rank"]:
        run_rank()
        return
    words = [each for each in sys.argv[1:] if each != "all"]
    scenarios = [each for each in (everything() if "all" in sys.argv else CHOSEN) if all(word in name_of(each) for word in words)]
    for count in sorted({each[0] for each in scenarios}):
        left = [each for each in scenarios if each[0] == count]
        while left:
            with tempfile.TemporaryDirectory() as folder:
                left = report(left, run_group(left, folder))
    checks.finish()


if __name__ == "__main__":
    main()
