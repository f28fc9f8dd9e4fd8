// reprise: policies in the IR.
#ifndef REPRISE_POLICY_OPS
#define REPRISE_POLICY_OPS

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "reprise/Dialect/Reprise/IR/RepriseBase.td"

def PolicyOp : Op<Reprise_Dialect, "policy",
    [HasParent<"::mlir::ModuleOp">, IsolatedFromAbove, NoRegionArguments, NoTerminator, SingleBlock, Symbol]> {
  let summary = "A policy, rules in order";
  let description = [{
    Holds the same rules as a rule file. A public policy counts for the whole module, behind those of checkpoints and
    before those of `--policy`. A private policy counts only where a checkpoint, `--policy` or another policy names it
    as `@NAME`.

    ```mlir
    reprise.policy @attention_again {
      reprise.rule must_recompute match {scope = "layer/[0-5]/**", kind = "attention"}
      reprise.rule prefer_save match {op = "dot_general", every = 2}
      reprise.rule policy "dots_saveable"
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<PolicyName>($sym_visibility, $sym_name) attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def RuleOp : Op<Reprise_Dialect, "rule", [HasParent<"PolicyOp">]> {
  let summary = "Gives ops that match a label, or the labels of a policy";
  let description = [{
    With `match`, all keys must hold (docs/reference/Policies.md lists them), and the first rule that matches gives the label. A
    rule without `match` is the default, for ops that no rule matches; it comes last. `policy "P"` stands for all rules
    of P: a built-in policy, a rule file, a plugin or `@NAME`.
  }];
  let arguments = (ins OptionalAttr<Reprise_LabelAttr>:$label, OptionalAttr<DictionaryAttr>:$match, OptionalAttr<StrAttr>:$policy);
  let assemblyFormat = "custom<Rule>($label, $match, $policy) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isDefault() { return !getMatchAttr() && !getPolicyAttr(); }";
}

#endif
