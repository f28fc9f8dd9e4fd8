// reprise: arithmetic of contractions
#ifndef REPRISE_TARGET_CONTRACTIONS_H
#define REPRISE_TARGET_CONTRACTIONS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace reprise {

/// Precision of contractions, convolutions and attention. Exact ones are chains of fma with the
/// CPU's bits. Exact: all types. TensorCores: all but 16-bit types. Tf32: only f64, and attention
/// in f32. Library: TensorCores, with libraries for contractions of 16-bit types where possible.
enum class Contractions { Exact, TensorCores, Tf32, Library };

/// Row of the table of all kinds of arithmetic.
struct ContractionsRow {
  llvm::StringLiteral name; ///< in bundles and reports
  bool isOption;            ///< a value of `--contractions`
  bool needsGpu;            ///< an error without a GPU among the targets
};

/// Table in the order of the enum; nothing else lists the names.
inline constexpr ContractionsRow contractionsTable[] = {{"exact", true, false},
                                                        {"tensor-cores", false, false},
                                                        {"tf32", true, true},
                                                        {"library", true, true}};

inline const ContractionsRow &describe(Contractions contractions) {
  return contractionsTable[static_cast<int>(contractions)];
}

/// Returns the arithmetic of a value of `--contractions`; none for any other text.
inline std::optional<Contractions> findContractions(llvm::StringRef name) {
  for (Contractions kind :
       {Contractions::Exact, Contractions::TensorCores, Contractions::Tf32, Contractions::Library})
    if (describe(kind).isOption && describe(kind).name == name)
      return kind;
  return std::nullopt;
}

} // namespace reprise

#endif // REPRISE_TARGET_CONTRACTIONS_H
