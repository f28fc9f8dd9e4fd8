// reprise: writes the reference page of the attributes that passes exchange
//
// Usage: attribute-page FILE
#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "llvm/Support/raw_ostream.h"

using namespace reprise;

static constexpr const char *kHead =
    R"(<!-- Made by utils/attribute-page.cpp; don't manually edit -->

# Attributes

This page tells which attributes of Reprise an op, a function, an argument or a result may have, and after which phases.
Verifier and page read the same tables (`Attributes.cpp` in the rooms of the dialects). Another attribute with one of the
prefixes, another value, or another place is an error.

"Model" stands for the file that a user writes. An attribute "within" a phase is gone at the end of the phase. The result
of the phase `target` is no IR.
)";

/// Describes the phases after which the attribute may exist.
static std::string describePhases(const AttributeRow &row) {
  auto spell = [](llvm::StringRef phase) {
    return phase == "model" ? "model" : ("`" + phase + "`").str();
  };
  if (row.last.empty())
    return "within " + spell(row.first);
  return row.first == row.last ? spell(row.first) : spell(row.first) + " to " + spell(row.last);
}

static void print(llvm::raw_ostream &os, llvm::StringRef dialect,
                  llvm::ArrayRef<AttributeRow> table) {
  os << "\n## `" << dialect << "`\n\n"
     << "| attribute | on | value | after | meaning |\n|---|---|---|---|---|\n";
  for (const AttributeRow &row : table)
    os << "| `" << row.name << "` | " << row.place.words << " | " << row.value.words << " | "
       << describePhases(row) << " | " << row.meaning << " |\n";
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: attribute-page FILE\n";
    return 1;
  }
  std::error_code error;
  llvm::raw_fd_ostream os(argv[1], error);
  if (error) {
    llvm::errs() << "error: cannot write '" << argv[1] << "': " << error.message() << "\n";
    return 1;
  }
  os << kHead;
  print(os, "reprise", getAttributeTable());
  print(os, "exec", exec::getAttributeTable());
  print(os, "pipe", pipe::getAttributeTable());
  return 0;
}
