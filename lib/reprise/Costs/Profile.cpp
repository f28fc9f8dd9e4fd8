// reprise: reads the profiles that reprise-run writes
#include "CostFiles.h"

#include "reprise/Support/JsonFile.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {
namespace {

/// Ranges of docs/reference/Costs.md: times of a step that a clock can resolve and that are finite,
/// and counts.
constexpr NumberRange kSeconds{1e-18, 1e9, /*allowsZero=*/true};
constexpr NumberRange kCount{1, 1e24, /*allowsZero=*/true};
constexpr NumberRange kThreads{1, 4096, /*allowsZero=*/false};
constexpr NumberRange kPrograms{1, 65536, /*allowsZero=*/false};

class Reader {
public:
  explicit Reader(const JsonFile &file) : file(file) {}

  LogicalResult run(CostProfile &profile) {
    const Object &root = file.root();
    double threads = 0, programs = 1;
    if (failed(read(root, "target", "", profile.target)) ||
        failed(read(root, "entry", "", profile.entry)) ||
        failed(read(root, "threads", "", kThreads, threads)) ||
        failed(read(root, "step_seconds", "", kSeconds, profile.stepSeconds)))
      return failure();
    if (root.get("programs") && failed(read(root, "programs", "", kPrograms, programs)))
      return failure();
    profile.threads = static_cast<unsigned>(threads);
    profile.programs = static_cast<unsigned>(programs);
    const Array *kernels = root.getArray("kernels");
    if (!kernels)
      return file.fail(root.get("kernels") ? "kernels" : "", "expected 'kernels', an array");
    for (size_t i = 0; i < kernels->size(); ++i)
      if (failed(readKernel((*kernels)[i], "kernels[" + std::to_string(i) + "]")))
        return failure();
    for (auto &[name, launch] : launches)
      profile.launches.push_back(std::move(launch));
    return success();
  }

private:
  LogicalResult read(const Object &object, StringRef key, const std::string &where,
                     std::string &text) {
    std::optional<StringRef> given = object.getString(key);
    if (!given)
      return fail(object, key, where, "a string");
    text = given->str();
    return success();
  }

  LogicalResult read(const Object &object, StringRef key, const std::string &where,
                     NumberRange range, double &number) {
    std::optional<double> given = object.getNumber(key);
    if (!given || !range.holds(*given))
      return fail(object, key, where, range.describe());
    number = *given;
    return success();
  }

  LogicalResult fail(const Object &object, StringRef key, const std::string &where,
                     StringRef what) {
    std::string member = (where.empty() ? where : where + ".") + key.str();
    return file.fail(object.get(key) ? member : where, "expected '" + key + "', " + what);
  }

  /// Reads a kernel. Kernels of one launch add up; the kernel with the launch's name has the calls,
  /// the bytes and the ops.
  LogicalResult readKernel(const llvm::json::Value &value, const std::string &where) {
    const Object *kernel = value.getAsObject();
    if (!kernel)
      return file.fail(where, "expected a kernel, an object");
    std::string name, launch;
    double seconds = 0;
    if (failed(read(*kernel, "kernel", where, name)) ||
        failed(read(*kernel, "launch", where, launch)) ||
        failed(read(*kernel, "seconds", where, kSeconds, seconds)))
      return failure();
    ProfiledLaunch &entry = launches[launch];
    entry.seconds += seconds;
    entry.isCall = kernel->get("function");
    if (name != launch)
      return success();
    if (failed(read(*kernel, "calls", where, kCount, entry.calls)) ||
        failed(read(*kernel, "bytes", where, kCount, entry.bytes)))
      return failure();
    const Array *ops = kernel->getArray("ops");
    if (!ops)
      return fail(*kernel, "ops", where, "an array");
    for (size_t i = 0; i < ops->size(); ++i)
      if (failed(readOp((*ops)[i], where + ".ops[" + std::to_string(i) + "]",
                        entry.ops.emplace_back())))
        return failure();
    return success();
  }

  LogicalResult readOp(const llvm::json::Value &value, const std::string &where, ProfiledOp &op) {
    const Object *object = value.getAsObject();
    if (!object)
      return file.fail(where, "expected an op, an object");
    return failure(failed(read(*object, "op", where, op.name)) ||
                   failed(read(*object, "kind", where, op.kind)) ||
                   failed(read(*object, "dtype", where, op.dtype)) ||
                   failed(read(*object, "signature", where, op.signature)) ||
                   failed(read(*object, "flops", where, kCount, op.flops)));
  }

  const JsonFile &file;
  llvm::MapVector<std::string, ProfiledLaunch, std::map<std::string, unsigned>> launches;
};

} // namespace

FailureOr<CostProfile> readProfile(StringRef path, Location from) {
  FailureOr<JsonFile> file = JsonFile::read(path, "profile", {"version", "kernels"}, from);
  CostProfile profile;
  if (failed(file) || failed(Reader(*file).run(profile)))
    return failure();
  return profile;
}

} // namespace reprise
