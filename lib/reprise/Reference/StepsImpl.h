// reprise: training steps in the interpreter
#ifndef REPRISE_LIB_REFERENCE_STEPS_H
#define REPRISE_LIB_REFERENCE_STEPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Reference/Steps.h"
#include "reprise/Reference/Tensor.h"

namespace reprise::steps {

using runtime::Error;
using runtime::Role;

using Rows = std::optional<EntrySignature::Rows>;

struct Argument {
  std::string name;
  Role role;
  mlir::RankedTensorType type;
  mlir::Attribute init;
  int64_t position = 0; // position in the step that was cut into programs, or 0
  Tensor value;
  Rows rows; // rows of a larger array
  std::shared_ptr<const runtime::ArrayFile> file;
  bool perStep = false; // whether the file has one leading row per absolute step
  int result = -1;      // result that is the next value
};

class Steps {
public:
  explicit Steps(std::vector<mlir::FunctionOpInterface> programs) : programs(std::move(programs)) {}

  Error readSignature();
  Error prepare(const StepsOptions &options);
  Error write(const StepsOptions &options) const;
  /// Runs one step; returns an error without text after a diagnostic.
  Error step();

  runtime::RunState state;
  std::vector<double> loss;
  /// The last step's results but for the next offset.
  std::vector<runtime::ArrayRef> arrays() const;

private:
  Error readArguments(mlir::FunctionOpInterface program);
  Error readResults(mlir::FunctionOpInterface program);
  Argument *find(llvm::StringRef name);
  Tensor makeInitial(const Argument &argument, int64_t step) const;
  Error giveArray(llvm::StringRef name, const runtime::ArraySource &source);
  Error giveFolder(const std::string &path);
  Error checkValues(int64_t steps) const;
  Error readFile(Argument &argument) const;
  Error setInput(Argument &argument, bool first) const;
  runtime::RunInterface interface() const;
  runtime::OutputFolder outputFolder(const StepsOptions &options) const;
  Error checkFolders(const StepsOptions &options) const;

  bool isOffset(size_t result) const;

  std::vector<mlir::FunctionOpInterface> programs; // by device
  // Arguments of all programs; those of one name are one.
  std::vector<Argument> arguments;
  std::vector<std::vector<size_t>> taken; // arguments of each program
  // Names of the results, one program after the other.
  std::vector<std::string> names;
  std::vector<mlir::Type> types; // types of the results
  std::vector<Rows> resultRows;
  std::vector<int64_t> positions; // positions of the results in the step that was cut, or zeros
  std::vector<size_t> order;      // order of the results by their positions
  std::vector<Tensor> results;
  std::optional<runtime::RunRecord> record; // record of the input folder
};

/// The name and the shape of the array that an argument or a result is, or is rows of.
inline std::string nameOfArray(const std::string &own, const Rows &rows) {
  return rows ? rows->whole.str() : own;
}
inline std::vector<int64_t> shapeOfArray(mlir::RankedTensorType own, const Rows &rows) {
  std::vector<int64_t> shape = own.getShape().vec();
  if (rows)
    shape[rows->dim] = rows->of;
  return shape;
}
/// Describes an argument or a result, without its data.
inline runtime::ArrayRef describePart(const std::string &own, mlir::RankedTensorType type,
                                      const Rows &rows) {
  runtime::ArrayRef part{nameOfArray(own, rows), dtypeOf(type.getElementType()),
                         type.getShape().vec()};
  if (rows)
    std::tie(part.firstRow, part.wholeRows, part.rowDim) =
        std::tuple(rows->first, rows->of, rows->dim);
  return part;
}
/// Returns true for the first part of an array, and for an array in one piece.
inline bool beginsArray(const Rows &rows) { return !rows || rows->first == 0; }

/// Returns whether the runtime sets the argument.
inline bool isScalarRole(Role role) {
  return role == Role::Seed || role == Role::Offset || role == Role::Step;
}

} // namespace reprise::steps

#endif
