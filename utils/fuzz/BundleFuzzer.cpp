// reprise: arbitrary bytes read as a bundle, unchanged and with a valid checksum
#include "reprise/Runtime/Bundle.h"

using namespace reprise::runtime;

static void read(const std::vector<uint8_t> &bytes) {
  auto bundle = deserializeBundle(bytes.data(), bytes.size(), "fuzz.rpb");
  if (!bundle)
    return;
  // An accepted bundle is written again without loss.
  auto again = serializeBundle(*bundle);
  if (!again)
    __builtin_trap();
  auto second = deserializeBundle(again->data(), again->size(), "fuzz.rpb");
  if (!second || !(*second == *bundle))
    __builtin_trap();
  // The bundle of each of its devices is valid as well.
  for (uint32_t device = 0; device < bundle->countDevices(); ++device)
    if (validateBundle(selectDevice(*bundle, device)))
      __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  read(bytes);
  stampBundle(bytes);
  read(bytes);
  return 0;
}
