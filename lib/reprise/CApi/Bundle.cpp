// reprise: bundles of the C API
#include "Handles.h"

#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/File.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace reprise::capi;
using namespace reprise::runtime;
using llvm::json::Array;
using llvm::json::Object;

/// Describes the common fields of an argument and a result; arrays whose rows lie on several
/// devices are whole.
template <typename T> static Object describeArray(const T &array) {
  return Object{{"name", arrayName(array)},
                {"dtype", dtypeName(array.dtype)},
                {"shape", Array(arrayShape(array))}};
}

static Array describeArguments(const Bundle &bundle) {
  Array arguments;
  for (size_t i = 0; i < bundle.arguments.size(); ++i) {
    const Argument &argument = bundle.arguments[i];
    if (argument.role >= Role::Seed || !beginsArray(argument))
      continue;
    Object object = describeArray(argument);
    object["role"] = roleName(argument.role);
    object["has_initializer"] = argument.hasInitializer;
    object["late"] = bundle.isLate(static_cast<uint32_t>(i));
    object["used_behind_pause"] = bundle.isUsedBehindPause(static_cast<uint32_t>(i));
    object["batch_dim"] = nullptr;
    if (argument.batchDim >= 0)
      object["batch_dim"] = argument.batchDim;
    arguments.push_back(std::move(object));
  }
  return arguments;
}

/// Describes all results except the next offset.
static Array describeResults(const Bundle &bundle) {
  Array results;
  for (const Result &result : bundle.results) {
    auto isOffset = [&](const Argument &argument) {
      return argument.role == Role::Offset && argument.name == result.name;
    };
    if (!beginsArray(result) || llvm::any_of(bundle.arguments, isOffset))
      continue;
    Object object = describeArray(result);
    object["early"] = bundle.isEarly(result);
    object["argument"] = nullptr;
    if (result.argument >= 0)
      object["argument"] = arrayName(bundle.arguments[result.argument]);
    results.push_back(std::move(object));
  }
  return results;
}

static std::string describeBundle(const Bundle &bundle) {
  Array targets;
  for (const Image &image : bundle.images)
    targets.push_back(image.target);
  int64_t arena = 0;
  for (uint32_t device = 0; device < bundle.countDevices(); ++device)
    arena = std::max<int64_t>(arena, bundle.arenaBytes(device));
  Object object{{"version", 1},
                {"entry", bundle.deviceName(0)},
                {"targets", std::move(targets)},
                {"devices", bundle.countDevices()},
                {"threads", bundle.threads},
                {"arena_bytes", arena},
                {"persistent_bytes", static_cast<int64_t>(bundle.persistentBytes())},
                {"workspace_bytes", static_cast<int64_t>(bundle.workspaceBytes(bundle.threads))},
                {"step_bytes", arena + static_cast<int64_t>(bundle.workspaceBytes(bundle.threads))},
                {"pauses", bundle.pauses()},
                {"arguments", describeArguments(bundle)},
                {"results", describeResults(bundle)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
}

reprise_error *reprise::capi::makeBundle(const SessionPtr &session, std::vector<uint8_t> bytes,
                                         std::string name, reprise_bundle **bundle) {
  Expected<Bundle> read = deserializeBundle(bytes.data(), bytes.size(), name);
  if (!read)
    return session->fail(read.message());
  *bundle = new reprise_bundle{session, std::move(name), std::move(bytes), describeBundle(*read)};
  return nullptr;
}

reprise_error *reprise_bundle_load(reprise_session *session, const char *path,
                                   reprise_bundle **bundle) {
  if (reprise_error *error = refuseNull({{"session", session}, {"path", path}, {"bundle", bundle}}))
    return error;
  session->state->begin();
  auto bytes = readFile(path);
  if (!bytes)
    return session->state->fail(bytes.message());
  return makeBundle(session->state, std::move(*bytes), path, bundle);
}

reprise_error *reprise_bundle_read(reprise_session *session, const void *data, size_t size,
                                   reprise_bundle **bundle) {
  if (reprise_error *error =
          refuseNull({{"session", session}, {"data", data, size}, {"bundle", bundle}}))
    return error;
  session->state->begin();
  const auto *bytes = static_cast<const uint8_t *>(data);
  return makeBundle(session->state, std::vector<uint8_t>(bytes, bytes + size), "bundle", bundle);
}

void reprise_bundle_destroy(reprise_bundle *bundle) { delete bundle; }

reprise_error *reprise_bundle_save(const reprise_bundle *bundle, const char *path) {
  if (reprise_error *error = refuseNull({{"bundle", bundle}, {"path", path}}))
    return error;
  bundle->session->begin();
  if (Error error = writeFile(path, bundle->bytes.data(), bundle->bytes.size()))
    return bundle->session->fail(error);
  return nullptr;
}

const void *reprise_bundle_bytes(const reprise_bundle *bundle, size_t *size) {
  if (size)
    *size = bundle ? bundle->bytes.size() : 0;
  return bundle ? bundle->bytes.data() : nullptr;
}

const char *reprise_bundle_description(const reprise_bundle *bundle) {
  return bundle ? bundle->description.c_str() : "";
}
