// reprise: StableHLO as text, without a StableHLO library
#ifndef REPRISE_STABLEHLO_SYNTAX_H
#define REPRISE_STABLEHLO_SYNTAX_H

namespace mlir {
class DialectRegistry;
}

namespace reprise::stablehlo {

/// Registers `stablehlo`, `chlo`, `sdy` and `mhlo` as dialects without ops. Their ops parse as
/// unregistered ops, in the generic form and in the pretty form that JAX prints. Attributes become
/// builtin attributes: `#stablehlo<comparison_direction EQ>` is "EQ", `#stablehlo.dot<…>` a
/// dictionary.
void registerSyntax(mlir::DialectRegistry &registry);

} // namespace reprise::stablehlo

#endif // REPRISE_STABLEHLO_SYNTAX_H
