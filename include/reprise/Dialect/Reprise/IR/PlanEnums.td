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

def Reprise_Label : Reprise_Enum<"Label", "what a policy asks for the results of an op", [
  Reprise_Word<"must_save", 1, "must_save", "the backward pass reads the original">,
  Reprise_Word<"prefer_save", 2, "prefer_save", "the same, if the budget allows it">,
  Reprise_Word<"prefer_recompute", 3, "prefer_recompute", "computed again, unless a plan saves it for a reason">,
  Reprise_Word<"must_recompute", 4, "must_recompute", "computed again in every plan">,
  Reprise_Word<"must_offload", 5, "must_offload", "waits in the memory of the host">,
  Reprise_Word<"prefer_offload", 6, "prefer_offload", "the same, unless it is computed again">]>;

def Reprise_Decision : Reprise_Enum<"PlanDecision", "what happens to a value in the backward pass", [
  Reprise_Word<"Saved", 0, "saved", "held, as labelled or for lack of a label">,
  Reprise_Word<"Kept", 1, "kept", "held against its label">,
  Reprise_Word<"Replayed", 2, "replayed", "computed again">,
  Reprise_Word<"NotNeeded", 3, "not needed", "read by neither the backward pass nor a replay">,
  Reprise_Word<"Offloaded", 4, "offloaded", "waits in the memory of the host">]>;

def Reprise_Reason : Reprise_Enum<"PlanReason", "why a decision was made", [
  Reprise_Word<"Label", 0, "label", "as labelled; plans have the name of the rule in its place">,
  Reprise_Word<"Fastest", 1, "fastest", "no label: saving costs less time">,
  Reprise_Word<"NearlyFree", 2, "nearly free", "no label: computed again inside its consumer's kernel">,
  Reprise_Word<"BlockInput", 3, "block input", "an input of a unit that has replays, or of the last unit">,
  Reprise_Word<"LastUnit", 4, "last unit", "of the last unit before its backward pass">,
  Reprise_Word<"Budget", 5, "budget", "the plan that fits the budget says so">,
  Reprise_Word<"Outlives", 6, "returned", "there in any case">,
  Reprise_Word<"Moot", 7, "moot", "labelled, but not needed">,
  Reprise_Word<"NotRead", 8, "not read", "neither labelled nor needed">]>;

def Reprise_Choice : Reprise_Enum<"PlanChoice", "what becomes of a value where the backward pass, or a replay, reads it", [
  Reprise_Word<"Save", 0, "save", "the original is kept">,
  Reprise_Word<"Replay", 1, "replay", "made again once, for all its readers">,
  Reprise_Word<"ReplayPerUnit", 2, "replay per unit", "made again for each unit whose backward pass asks for it">,
  Reprise_Word<"SaveThenReplay", 3, "save then replay",
               "kept for the first unit that asks for it, made again once for all later ones">]>;

def Reprise_Form : Reprise_Enum<"PlanFormStep", "what a plan changes of the step before values are chosen", [
  Reprise_Word<"Unrolled", 0, "unrolled", "loops are replaced by their iterations">,
  Reprise_Word<"BodiesRecomputed", 1, "bodies_recomputed", "bodies of loops have a plan of their own, with replays">,
  Reprise_Word<"Deferred", 2, "deferred", "a large gradient waits until the pass is over">]>;

#endif
