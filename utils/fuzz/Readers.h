// reprise: files read as the tools read them, in this process
#ifndef REPRISE_UTILS_FUZZ_READERS_H
#define REPRISE_UTILS_FUZZ_READERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <string>

namespace reprise {
struct CompileOptions;
namespace fuzz {

/// Readers of all kinds of files that users hand to a tool.
class Readers {
public:
  /// Models are `FOLDER/model/NAME.mlir`; a plan or profile NAME.X.json belongs to the model NAME.
  Readers(mlir::MLIRContext *context, std::string folder)
      : context(context), folder(std::move(folder)) {}

  /// Returns whether there is a reader of the kind, such as "plan".
  static bool has(const std::string &kind);
  /// Returns whether files of the kind are texts.
  static bool isText(const std::string &kind);
  /// Parses the model of an original, if the kind needs one, before children copy this process.
  void prepare(const std::string &kind, const std::string &original);
  /// Reads the file at `path`, a changed copy of `original`, and goes on with an accepted file as
  /// far as the tools do, but runs no machine code. Returns whether the file was accepted.
  bool read(const std::string &kind, const std::string &original, const std::string &path);

private:
  using Reader = bool (Readers::*)(const std::string &path);
  static const std::map<std::string, Reader> &table();

  bool readModel(const std::string &path);
  bool readBundle(const std::string &path);
  bool readPlan(const std::string &path);
  bool readProfile(const std::string &path);
  bool readRules(const std::string &path);
  bool readDevice(const std::string &path);
  bool readProblem(const std::string &path);
  bool readBuffers(const std::string &path);
  bool readPipeline(const std::string &path);
  bool readArray(const std::string &path);
  bool readTensors(const std::string &path);
  bool readRecord(const std::string &path);
  /// Compiles a copy of the model of the original without code generation.
  bool estimate(const CompileOptions &options);

  mlir::MLIRContext *context;
  std::string folder;
  std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> models;
  mlir::ModuleOp model; ///< model of the current original
};

} // namespace fuzz
} // namespace reprise

#endif
