// reprise: the bundle of one device, extracted from a bundle of several
#include "reprise/Runtime/Bundle.h"

#include <algorithm>
#include <map>

using namespace reprise::runtime;

namespace {

/// Copy of the objects that a device uses, with new numbers.
class Selection {
public:
  Selection(const Bundle &whole, uint32_t device) : whole(whole), device(device) {}

  Bundle run() {
    own.producer = whole.producer;
    own.contractions = whole.contractions;
    own.entry = whole.deviceName(device);
    own.threads = whole.threads;
    own.hasBudget = whole.hasBudget;
    own.budgetBytes = whole.budgetBytes;
    takeParts(whole.programs, own.programs);
    takeParts(whole.results, own.results);
    takeParts(whole.replayChecks, own.replayChecks);
    takeKernels();
    takeImages();
    takeArguments();
    takeConstants();
    return std::move(own);
  }

private:
  template <typename Part> void takeParts(const std::vector<Part> &all, std::vector<Part> &into) {
    for (const Part &part : all)
      if (part.device == device) {
        into.push_back(part);
        into.back().device = 0;
      }
  }

  template <typename Visit> static void forEachBuffer(Bundle &bundle, Visit visit) {
    for (Program &program : bundle.programs)
      for (Command &command : program.commands)
        for (Operand &operand : command.operands)
          visit(operand.buffer, &operand.strides);
    for (Result &result : bundle.results)
      visit(result.buffer, nullptr);
    for (ReplayCheck &check : bundle.replayChecks) {
      visit(check.original, nullptr);
      visit(check.replayed, nullptr);
    }
  }

  void takeKernels() {
    std::map<uint32_t, uint32_t> numbers;
    for (Program &program : own.programs)
      for (Command &command : program.commands) {
        if (command.kind != CommandKind::Kernel)
          continue;
        auto [found, isNew] = numbers.try_emplace(command.kernel, own.kernels.size());
        if (isNew)
          own.kernels.push_back(whole.kernels[command.kernel]);
        command.kernel = found->second;
      }
    for (const Kernel &kernel : own.kernels)
      own.workerWorkspaceBytes = std::max(own.workerWorkspaceBytes, kernel.workspaceBytes);
  }

  /// Keeps the images of its kernels, or all images if it has no kernels.
  void takeImages() {
    std::map<uint32_t, uint32_t> numbers;
    for (uint32_t i = 0; i < whole.images.size(); ++i) {
      bool isUsed = own.kernels.empty() ||
                    std::any_of(own.kernels.begin(), own.kernels.end(),
                                [&](const Kernel &kernel) { return kernel.image == i; });
      if (!isUsed)
        continue;
      numbers[i] = uint32_t(own.images.size());
      own.images.push_back(whole.images[i]);
    }
    for (Kernel &kernel : own.kernels)
      kernel.image = numbers[kernel.image];
  }

  void takeArguments() {
    std::vector<uint32_t> numbers(whole.arguments.size());
    for (uint32_t argument : whole.devices[device].arguments) {
      numbers[argument] = uint32_t(own.arguments.size());
      own.arguments.push_back(whole.arguments[argument]);
    }
    forEachBuffer(own, [&](BufferRef &buffer, std::vector<int64_t> *) {
      if (buffer.space == Space::Argument)
        buffer.index = numbers[buffer.index];
    });
    for (Result &result : own.results)
      if (result.argument >= 0)
        result.argument = int32_t(numbers[result.argument]);
  }

  /// Keeps the constants from the first that it reads to the last; if a repeat moves through
  /// constants, keeps all.
  void takeConstants() {
    uint64_t begin = whole.constants.size(), end = 0;
    forEachBuffer(own, [&](BufferRef &buffer, std::vector<int64_t> *strides) {
      if (buffer.space != Space::Constant)
        return;
      bool isMoving = strides && std::any_of(strides->begin(), strides->end(),
                                             [](int64_t stride) { return stride != 0; });
      begin = std::min(begin, isMoving ? 0 : buffer.offset);
      end = std::max(end, isMoving ? whole.constants.size() : buffer.offset + buffer.bytes);
    });
    begin = begin / bufferAlignment * bufferAlignment;
    if (begin >= end)
      return dropConstants();
    own.constants.assign(whole.constants.begin() + int64_t(begin),
                         whole.constants.begin() + int64_t(end));
    forEachBuffer(own, [&](BufferRef &buffer, std::vector<int64_t> *) {
      if (buffer.space == Space::Constant)
        buffer.offset -= begin;
    });
  }

  /// Drops the constants, if only empty buffers lie there.
  void dropConstants() {
    forEachBuffer(own, [&](BufferRef &buffer, std::vector<int64_t> *) {
      if (buffer.space == Space::Constant)
        buffer.offset = 0;
    });
  }

  const Bundle &whole;
  uint32_t device;
  Bundle own;
};

} // namespace

Bundle reprise::runtime::selectDevice(const Bundle &bundle, uint32_t device) {
  return bundle.devices.empty() ? bundle : Selection(bundle, device).run();
}
