// reprise: reads the profiles that reprise-run writes
#include "CostFiles.h"

#include "reprise/Support/JsonFile.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {
namespace {

class Reader {
public:
  explicit Reader(const JsonFile &file) : file(file) {}

  LogicalResult run(CostProfile &profile) {
    const Object &root = file.root();
    double threads = 0;
    if (failed(read(root, "target", "", profile.target)) ||
        failed(read(root, "entry", "", profile.entry)) ||
        failed(read(root, "threads", "", threads)) ||
        failed(read(root, "step_seconds", "", profile.stepSeconds)))
      return failure();
    if (threads < 1 || threads > 4096)
      return file.fail("threads", "expected 'threads' from 1 to 4096");
    profile.threads = static_cast<unsigned>(threads);
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
                     double &number) {
    std::optional<double> given = object.getNumber(key);
    if (!given || !std::isfinite(*given) || *given < 0)
      return fail(object, key, where, "a number from 0 on");
    number = *given;
    return success();
  }

  LogicalResult fail(const Object &object, StringRef key, const std::string &where,
                     StringRef what) {
    std::string member = (where.empty() ? where : where + ".") + key.str();
    return file.fail(object.get(key) ? member : where, "expected '" + key + "', " + what);
  }

  /// Kernels of one launch add up; the one of its name has the calls, the bytes and the ops.
  LogicalResult readKernel(const llvm::json::Value &value, const std::string &where) {
    const Object *kernel = value.getAsObject();
    if (!kernel)
      return file.fail(where, "expected a kernel, an object");
    std::string name, launch;
    double seconds = 0;
    if (failed(read(*kernel, "kernel", where, name)) ||
        failed(read(*kernel, "launch", where, launch)) ||
        failed(read(*kernel, "seconds", where, seconds)))
      return failure();
    ProfiledLaunch &entry = launches[launch];
    entry.seconds += seconds;
    if (name != launch)
      return success();
    if (failed(read(*kernel, "calls", where, entry.calls)) ||
        failed(read(*kernel, "bytes", where, entry.bytes)))
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
                   failed(read(*object, "flops", where, op.flops)));
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
