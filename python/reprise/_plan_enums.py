"""The words of policies and plans, each with its number.

Made by utils/make-enums.py from include/reprise/Dialect/Reprise/IR/PlanEnums.td.
"""

#: Request of a policy for the results of an op.
LABELS = {
    "must_save": 1,  # the backward pass reads the original
    "prefer_save": 2,  # the backward pass reads the original if the budget allows it
    "prefer_recompute": 3,  # the result is computed again, unless a plan saves it for a reason
    "must_recompute": 4,  # the result is computed again in every plan
    "must_offload": 5,  # the result waits in the memory of the host
    "prefer_offload": 6,  # the result waits in the memory of the host, or is computed again
}
#: How a plan provides a value to the backward pass.
DECISIONS = {
    "saved": 0,  # kept in memory, as its label asks or because it has none
    "kept": 1,  # kept in memory although its label asks for a replay
    "replayed": 2,  # computed again
    "not needed": 3,  # read by neither the backward pass nor a replay
    "offloaded": 4,  # moved to the memory of the host and back
}
#: Reason of a decision.
REASONS = {
    "label": 0,  # the label asks for it; plans show the name of the rule instead
    "fastest": 1,  # no label: saving costs less time
    "nearly free": 2,  # no label: computed again inside its consumer's kernel
    "block input": 3,  # an input of a unit that has replays, or of the last unit
    "last unit": 4,  # the unit of the value runs directly before its own backward pass
    "budget": 5,  # the plan that fits the budget says so
    "returned": 6,  # the value is in memory in any case
    "moot": 7,  # labelled, but not needed
    "not read": 8,  # neither labelled nor needed
}
#: Execution of a value that the backward pass, or a replay, reads.
CHOICES = {
    "save": 0,  # the original is kept for all readers
    "replay": 1,  # a single replay serves all readers
    "replay per unit": 2,  # each unit whose backward pass reads the value has its own replay
    "save then replay": 3,  # the original is kept for the first unit that reads it; a single replay serves all later units
}
#: Change that a plan makes to the step before values are chosen.
FORMS = {
    "unrolled": 0,  # loops are replaced by their iterations
    "bodies_recomputed": 1,  # bodies of loops have a plan of their own, with replays
    "deferred": 2,  # a large gradient waits until the pass is over
    "sliced": 3,  # the widest contraction and its readers run in slices of rows
}
