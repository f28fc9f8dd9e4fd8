// reprise: uploads of the next step's inputs while a device runs a step
#include "InputUploads.h"

using namespace reprise::runtime;

/// Waits for copies before the memory is freed.
InputUploads::Upload::~Upload() {
  // An error of a copy that nobody waits for changes no result.
  if (stream)
    (void)stream->synchronize();
}

Error InputUploads::open(Upload &upload, uint64_t bytes) {
  Device &device = executable.device();
  Error failure = Error::success();
  auto take = [&](auto &into, auto made) {
    if (made)
      into = std::move(*made);
    else
      failure = made.error();
  };
  take(upload.stream, device.makeStream());
  take(upload.arrived, device.makeEvent());
  take(upload.taken, device.makeEvent());
  take(upload.pinned, device.allocateHost(bytes, "the next inputs"));
  take(upload.place, device.allocate(bytes, "the next inputs"));
  return failure;
}

Error InputUploads::begin(size_t argument, int64_t step,
                          const std::function<Error(void *to)> &read) {
  if (isImpossible)
    return Error::success();
  uint64_t bytes = executable.bundle().arguments[argument].bytes;
  auto [found, isNew] = uploads.try_emplace(argument);
  Upload &upload = found->second;
  if (isNew && open(upload, bytes)) {
    // If there is no room for uploads, the run waits for its inputs instead.
    isImpossible = true;
    uploads.clear();
    return Error::success();
  }
  upload.step.reset();
  if (Error error = upload.stream->synchronize())
    return error;
  if (Error error = read(upload.pinned->address()))
    return error;
  if (Error error = upload.stream->wait(*upload.taken))
    return error;
  if (Error error =
          upload.stream->copyToDevice(upload.place->address(), upload.pinned->address(), bytes))
    return error;
  upload.step = step;
  return upload.stream->record(*upload.arrived);
}

bool InputUploads::has(size_t argument, int64_t step) const {
  auto found = uploads.find(argument);
  return found != uploads.end() && found->second.step == step;
}

Error InputUploads::take(size_t argument) {
  Upload &upload = uploads.find(argument)->second;
  return executable.takeArgument(argument, upload.place->address(), *upload.arrived, *upload.taken);
}
