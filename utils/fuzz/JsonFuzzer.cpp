// reprise: arbitrary bytes read as run.json
#include "reprise/Runtime/Json.h"

using namespace reprise::runtime;

static std::string print(const JsonValue &value) {
  if (value.kind == JsonValue::String)
    return jsonString(value.text);
  if (value.kind != JsonValue::Object && value.kind != JsonValue::Array)
    return value.text;
  bool isObject = value.kind == JsonValue::Object;
  std::string text;
  for (size_t i = 0; i < value.elements.size(); ++i)
    text += (i ? "," : "") + (isObject ? jsonString(value.keys[i]) + ":" : "") +
            print(value.elements[i]);
  return isObject ? "{" + text + "}" : "[" + text + "]";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto value = parseJson(std::string(data, data + size));
  if (!value)
    return 0;
  std::string text = print(*value);
  auto again = parseJson(text);
  if (!again || print(*again) != text)
    __builtin_trap();
  return 0;
}
