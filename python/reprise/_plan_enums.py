"""The words of policies and plans, each with its number.

Made by utils/make-enums.py from include/reprise/Dialect/Reprise/IR/PlanEnums.td.
"""

#: What a policy asks for the results of an op.
LABELS = {
    "must_save": 1,  # the backward pass reads the original
    "prefer_save": 2,  # the same, if the budget allows it
    "prefer_recompute": 3,  # computed again, unless a plan saves it for a reason
    "must_recompute": 4,  # computed again in every plan
    "must_offload": 5,  # waits in the memory of the host
    "prefer_offload": 6,  # the same, unless it is computed again
}
#: What happens to a value in the backward pass.
DECISIONS = {
    "saved": 0,  # held, as labelled or for lack of a label
    "kept": 1,  # held against its label
    "replayed": 2,  # computed again
    "not needed": 3,  # read by neither the backward pass nor a replay
    "offloaded": 4,  # waits in the memory of the host
}
#: Why a decision was made.
REASONS = {
    "label": 0,  # as labelled; plans have the name of the rule in its place
    "fastest": 1,  # no label: saving costs less time
    "nearly free": 2,  # no label: computed again inside its consumer's kernel
    "block input": 3,  # an input of a unit that has replays, or of the last unit
    "last unit": 4,  # of the last unit before its backward pass
    "budget": 5,  # the plan that fits the budget says so
    "returned": 6,  # there in any case
    "moot": 7,  # labelled, but not needed
    "not read": 8,  # neither labelled nor needed
}
#: What becomes of a value where the backward pass, or a replay, reads it.
CHOICES = {
    "save": 0,  # the original is kept
    "replay": 1,  # made again once, for all its readers
    "replay per unit": 2,  # made again for each unit whose backward pass asks for it
    "save then replay": 3,  # kept for the first unit that asks for it, made again once for all later ones
}
#: What a plan changes of the step before values are chosen.
FORMS = {
    "unrolled": 0,  # loops are replaced by their iterations
    "bodies_recomputed": 1,  # bodies of loops have a plan of their own, with replays
    "deferred": 2,  # a large gradient waits until the pass is over
}
