// reprise: tensors of several .safetensors files, and their names
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Json.h"
#include "reprise/Runtime/Safetensors.h"

#include <algorithm>
#include <set>

using namespace reprise::runtime;

Error reprise::runtime::addTensors(const std::string &path, TensorFiles &tensors) {
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  for (const auto &[name, tensor] : (*file)->tensors())
    tensors.emplace(name, *file);
  return Error::success();
}

static Error fail(const std::string &path, const std::string &why) {
  return Error::make("cannot read '" + path + "': " + why);
}

/// Reads a file that is one JSON object.
static Expected<JsonValue> readObject(const std::string &path) {
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  Expected<JsonValue> value = parseJson(std::string(bytes->begin(), bytes->end()));
  return value ? std::move(value) : fail(path, value.message());
}

Error reprise::runtime::addIndexedTensors(const std::string &path, TensorFiles &tensors) {
  Expected<JsonValue> index = readObject(path);
  if (!index)
    return index.error();
  const JsonValue *map = index->find("weight_map");
  if (!map || map->kind != JsonValue::Object)
    return fail(path, "expected an object 'weight_map' of tensors and their files");
  std::string folder = path.substr(0, path.rfind('/') + 1); // empty without a slash
  std::map<std::string, std::shared_ptr<const SafetensorsFile>> files;
  for (size_t i = 0; i < map->keys.size(); ++i) {
    const std::string &tensor = map->keys[i], &name = map->elements[i].text;
    if (map->elements[i].kind != JsonValue::String || name.empty() ||
        name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
      return fail(path, "tensor '" + tensor + "' needs the name of a file beside the index");
    std::shared_ptr<const SafetensorsFile> &file = files[name];
    if (!file) {
      auto opened = SafetensorsFile::open(folder + name);
      if (!opened)
        return opened.error();
      file = std::move(*opened);
    }
    if (!file->tensors().count(tensor))
      return fail(path, "'" + file->path() + "' has no tensor '" + tensor + "'");
    tensors.emplace(tensor, file);
  }
  return Error::success();
}

Expected<TensorNames> TensorNames::read(const std::string &path) {
  Expected<JsonValue> object = readObject(path);
  if (!object)
    return object.error();
  TensorNames read;
  std::map<std::string, std::string> arrays; // array of each tensor
  for (size_t i = 0; i < object->keys.size(); ++i) {
    const std::string &array = object->keys[i];
    const JsonValue &value = object->elements[i];
    std::vector<JsonValue> tensors = value.elements;
    if (value.kind == JsonValue::String)
      tensors = {value};
    bool isGood =
        !tensors.empty() && (value.kind == JsonValue::String || value.kind == JsonValue::Array);
    for (const JsonValue &each : tensors)
      isGood &= each.kind == JsonValue::String && !each.text.empty();
    if (!isGood)
      return fail(path, "expected the name of a tensor, or an array of names, for '" + array + "'");
    for (const JsonValue &each : tensors) {
      auto [known, isNew] = arrays.insert({each.text, array});
      if (!isNew)
        return fail(path, "the tensor '" + each.text + "' is that of '" + known->second +
                              "' and of '" + array + "'");
      read.names[array].push_back(each.text);
    }
  }
  return read;
}

std::vector<std::string> TensorNames::of(const std::string &array) const {
  auto found = names.find(array);
  if (found != names.end())
    return found->second;
  std::string name = array;
  std::replace(name.begin(), name.end(), '/', '.');
  return {name};
}
