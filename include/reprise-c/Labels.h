/* reprise: what a policy asks for the results of an op
 *
 * Made by utils/make-enums.py from include/reprise/Dialect/Reprise/IR/PlanEnums.td. */
#ifndef REPRISE_C_LABELS_H
#define REPRISE_C_LABELS_H

/* clang-format off */
enum {
  RP_NO_LABEL = 0,
  RP_MUST_SAVE = 1, /* the backward pass reads the original */
  RP_PREFER_SAVE = 2, /* the backward pass reads the original if the budget allows it */
  RP_PREFER_RECOMPUTE = 3, /* the result is computed again, unless a plan saves it for a reason */
  RP_MUST_RECOMPUTE = 4, /* the result is computed again in every plan */
  RP_MUST_OFFLOAD = 5, /* the result waits in the memory of the host */
  RP_PREFER_OFFLOAD = 6, /* the result waits in the memory of the host, or is computed again */
};

#endif /* REPRISE_C_LABELS_H */
