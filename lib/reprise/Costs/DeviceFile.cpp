// reprise: rates of devices: built in, or from a file
#include "CostFiles.h"

#include "reprise/Support/JsonFile.h"

using namespace mlir;
using llvm::json::Object;

namespace reprise {

/// Ranges of docs/reference/schemas/device.schema.json Beyond them the planner's sums and quotients
/// of seconds would overflow.
static constexpr NumberRange kRate{1, 1e24, /*allowsZero=*/false};
static constexpr NumberRange kLaunchSeconds{1e-12, 1e6, /*allowsZero=*/true};
static constexpr int64_t kMostBytes = int64_t(1) << 53;
static constexpr int64_t kMostNodeDevices = 1024;

static LogicalResult readNumber(const JsonFile &file, const Object &object, StringRef key,
                                const std::string &prefix, NumberRange range, double &number) {
  const llvm::json::Value *value = object.get(key);
  std::string where = prefix + key.str();
  if (!value)
    return file.fail(StringRef(prefix).drop_back(prefix.empty() ? 0 : 1), "expected '" + key + "'");
  std::optional<double> given = value->getAsNumber();
  if (!given || !range.holds(*given))
    return file.fail(where, (range.allowsZero ? "expected seconds, " : "expected a rate, ") +
                                range.describe());
  number = *given;
  return success();
}

static LogicalResult readContractions(const JsonFile &file, DeviceRates &rates) {
  const Object *flops = file.root().getObject("flops");
  if (!flops)
    return file.fail(file.root().get("flops") ? "flops" : "", "expected 'flops', an object");
  if (failed(file.checkKeys(*flops, {"f32", "f64", "bf16", "f16"}, "flops.")))
    return failure();
  // Models of other types may do without; CostModel::check tells where one cannot.
  for (StringRef dtype : {"f32", "f64", "bf16", "f16"})
    if ((dtype == "f32" || flops->get(dtype)) &&
        failed(
            readNumber(file, *flops, dtype, "flops.", kRate, rates.contractionFlops[dtype.str()])))
      return failure();
  return success();
}

static LogicalResult readMemory(const JsonFile &file, DeviceRates &rates) {
  const llvm::json::Value *value = file.root().get("memory");
  if (!value)
    return success();
  rates.memory = value->getAsInteger();
  if (rates.memory && *rates.memory >= 1 && *rates.memory <= kMostBytes)
    return success();
  return file.fail("memory", "expected bytes, an integer from 1 to 2^53");
}

/// Reads the size of a node, and the rate between nodes. Each of the two keys needs the other.
static LogicalResult readNodes(const JsonFile &file, DeviceRates &rates) {
  const llvm::json::Value *devices = file.root().get("node_devices");
  if (!devices && !file.root().get("network_bytes_per_second"))
    return success();
  std::optional<int64_t> number = devices ? devices->getAsInteger() : std::nullopt;
  if (!devices || !number || *number < 1 || *number > kMostNodeDevices)
    return file.fail(devices ? "node_devices" : "",
                     "expected 'node_devices', an integer from 1 to 1024");
  rates.nodeDevices = *number;
  return readNumber(file, file.root(), "network_bytes_per_second", "", kRate, rates.network);
}

/// Reads an optional rate, which keeps its value without the key.
static LogicalResult readOptional(const JsonFile &file, StringRef key, double &rate) {
  return file.root().get(key) ? readNumber(file, file.root(), key, "", kRate, rate) : success();
}

FailureOr<DeviceRates> readDeviceFile(StringRef path, Location from) {
  FailureOr<JsonFile> file = JsonFile::read(path, "device file", {"version", "flops"}, from);
  if (failed(file))
    return failure();
  const Object &root = file->root();
  if (failed(file->checkKeys(root,
                             {"version", "name", "flops", "elementwise_flops", "bytes_per_second",
                              "launch_seconds", "memory", "link_bytes_per_second",
                              "host_bytes_per_second", "tensor_flops", "library_flops",
                              "node_devices", "network_bytes_per_second"},
                             "")))
    return failure();
  DeviceRates rates;
  std::optional<StringRef> name = root.getString("name");
  if (!name)
    return file->fail(root.get("name") ? "name" : "", "expected 'name', a string");
  rates.name = name->str();
  if (failed(readContractions(*file, rates)) ||
      failed(readNumber(*file, root, "elementwise_flops", "", kRate, rates.elementwiseFlops)) ||
      failed(readNumber(*file, root, "bytes_per_second", "", kRate, rates.bytes)) ||
      failed(readNumber(*file, root, "launch_seconds", "", kLaunchSeconds, rates.launchSeconds)) ||
      failed(readMemory(*file, rates)) || failed(readNodes(*file, rates)) ||
      failed(readOptional(*file, "link_bytes_per_second", rates.link)) ||
      failed(readOptional(*file, "host_bytes_per_second", rates.hostLink)) ||
      (root.get("tensor_flops") &&
       failed(readOptional(*file, "tensor_flops", rates.tensorFlops.emplace()))) ||
      (root.get("library_flops") &&
       failed(readOptional(*file, "library_flops", rates.libraryFlops.emplace()))))
    return failure();
  return rates;
}

} // namespace reprise
