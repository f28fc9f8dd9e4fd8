// reprise: StableHLO as text, without a StableHLO library
#ifndef REPRISE_STABLEHLO_SYNTAX_H
#define REPRISE_STABLEHLO_SYNTAX_H

namespace mlir {
class DialectRegistry;
}

namespace reprise::stablehlo {

/// Registers `stablehlo`, `chlo`, `sdy` and `mhlo` as dialects without ops: their ops parse, in the
/// generic form and in the pretty one that JAX prints, as ops that are not registered. Attributes
/// become builtin ones: `#stablehlo<comparison_direction EQ>` is "EQ", `#stablehlo.dot<…>` a
/// dictionary.
void registerSyntax(mlir::DialectRegistry &registry);

} // namespace reprise::stablehlo

#endif // REPRISE_STABLEHLO_SYNTAX_H
