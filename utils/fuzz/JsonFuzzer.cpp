// reprise: arbitrary bytes read as run.json
#include "reprise/Runtime/Json.h"

using namespace reprise::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto members = parseJsonIntegers(std::string(data, data + size));
  if (!members)
    return 0;
  std::string text;
  for (const auto &[name, value] : *members)
    text += (text.empty() ? "{" : ", ") + jsonString(name) + ": " + std::to_string(value);
  // Escapes in names are not changed: a name may differ afterwards, but stays a name.
  if (!parseJsonIntegers(text.empty() ? "{}" : text + "}"))
    __builtin_trap();
  return 0;
}
