// reprise: the words of policies and plans, each with its number. utils/make-enums.py makes them known to the planner, to C and to Python.
#ifndef REPRISE_PLANENUMS
#define REPRISE_PLANENUMS

include "mlir/IR/EnumAttr.td"

class Reprise_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::reprise";
  let genSpecializedAttr = 0;
  // Texts of two words stand in quotes.
  let parameterPrinter = "$_printer.printKeywordOrString(" # symbolToStringFnName # "($_self))";
}
// Case of an enumeration: its number, its text in files, and its meaning.
class Reprise_Word<string symbol, int number, string text, string what> : I32EnumAttrCase<symbol, number, text> {
  string meaning = what;
}

def Reprise_Label : Reprise_Enum<"Label", "request of a policy for the results of an op", [
  Reprise_Word<"must_save", 1, "must_save", "the backward pass reads the original">,
  Reprise_Word<"prefer_save", 2, "prefer_save", "the backward pass reads the original if the budget allows it">,
  Reprise_Word<"prefer_recompute", 3, "prefer_recompute", "the result is computed again, unless a plan saves it for a reason">,
  Reprise_Word<"must_recompute", 4, "must_recompute", "the result is computed again in every plan">,
  Reprise_Word<"must_offload", 5, "must_offload", "the result waits in the memory of the host">,
  Reprise_Word<"prefer_offload", 6, "prefer_offload", "the result waits in the memory of the host, or is computed again">]>;

def Reprise_Decision : Reprise_Enum<"PlanDecision", "how a plan provides a value to the backward pass", [
  Reprise_Word<"Saved", 0, "saved", "kept in memory, as its label asks or because it has none">,
  Reprise_Word<"Kept", 1, "kept", "kept in memory although its label asks for a replay">,
  Reprise_Word<"Replayed", 2, "replayed", "computed again">,
  Reprise_Word<"NotNeeded", 3, "not needed", "read by neither the backward pass nor a replay">,
  Reprise_Word<"Offloaded", 4, "offloaded", "moved to the memory of the host and back">]>;

def Reprise_Reason : Reprise_Enum<"PlanReason", "reason of a decision", [
  Reprise_Word<"Label", 0, "label", "the label asks for it; plans show the name of the rule instead">,
  Reprise_Word<"Fastest", 1, "fastest", "no label: saving costs less time">,
  Reprise_Word<"NearlyFree", 2, "nearly free", "no label: computed again inside its consumer's kernel">,
  Reprise_Word<"BlockInput", 3, "block input", "an input of a unit that has replays, or of the last unit">,
  Reprise_Word<"LastUnit", 4, "last unit", "the unit of the value runs directly before its own backward pass">,
  Reprise_Word<"Budget", 5, "budget", "the plan that fits the budget says so">,
  Reprise_Word<"Outlives", 6, "returned", "the value is in memory in any case">,
  Reprise_Word<"Moot", 7, "moot", "labelled, but not needed">,
  Reprise_Word<"NotRead", 8, "not read", "neither labelled nor needed">]>;

def Reprise_Choice : Reprise_Enum<"PlanChoice", "execution of a value that the backward pass, or a replay, reads", [
  Reprise_Word<"Save", 0, "save", "the original is kept for all readers">,
  Reprise_Word<"Replay", 1, "replay", "a single replay serves all readers">,
  Reprise_Word<"ReplayPerUnit", 2, "replay per unit", "each unit whose backward pass reads the value has its own replay">,
  Reprise_Word<"SaveThenReplay", 3, "save then replay",
               "the original is kept for the first unit that reads it; a single replay serves all later units">]>;

def Reprise_Form : Reprise_Enum<"PlanFormStep", "change that a plan makes to the step before values are chosen", [
  Reprise_Word<"Unrolled", 0, "unrolled", "loops are replaced by their iterations">,
  Reprise_Word<"BodiesRecomputed", 1, "bodies_recomputed", "bodies of loops have a plan of their own, with replays">,
  Reprise_Word<"Deferred", 2, "deferred", "a large gradient waits until the pass is over">,
  Reprise_Word<"Sliced", 3, "sliced", "the widest contraction and its readers run in slices of rows">]>;

#endif
