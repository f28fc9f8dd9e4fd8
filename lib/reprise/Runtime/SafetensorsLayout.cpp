// reprise: where the arrays of a run lie in .safetensors files
#include "SafetensorsLayout.h"
#include "SafetensorsTypes.h"
#include "reprise/Runtime/Json.h"

#include <algorithm>
#include <cstdio>

using namespace reprise::runtime;

bool reprise::runtime::isTensorFileName(const std::string &name) {
  if (name == soleTensorFile || name == tensorIndexFile)
    return true;
  std::string digits = name;
  for (char &c : digits)
    c = c >= '0' && c <= '9' ? '0' : c;
  return digits == "model-00000-of-00000.safetensors";
}

Error reprise::runtime::checkTensorNames(const std::string &what,
                                         const std::vector<std::string> &arrays,
                                         const TensorNames &names) {
  std::map<std::string, std::string> known;
  for (const std::string &array : arrays) {
    std::string tensor = names.of(array).front();
    auto [place, isNew] = known.insert({tensor, array});
    if (tensor == "__metadata__")
      return Error::make("the " + what + " '" + array + "' cannot have the tensor name '" + tensor +
                         "'");
    if (!isNew)
      return Error::make(what + "s '" + place->second + "' and '" + array +
                         "' have the same tensor name '" + tensor + "'");
  }
  return Error::success();
}

namespace {

struct Entry {
  std::string tensor;
  const RunInterface::Array *array;
  uint64_t bytes, begin;
};

std::vector<Entry> sortEntries(const OutputFolder &folder) {
  std::vector<Entry> entries;
  for (const RunInterface::Array &array : folder.interface.results)
    entries.push_back({folder.names.of(array.name).front(), &array,
                       countBytes(array.dtype, array.shape).value_or(0), 0});
  auto rank = [](const Entry &entry) {
    return std::make_pair(-int64_t(elementBytes(entry.array->dtype)), entry.tensor);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Entry &a, const Entry &b) { return rank(a) < rank(b); });
  return entries;
}

std::vector<std::vector<Entry>> cutIntoFiles(std::vector<Entry> entries, uint64_t most) {
  std::vector<std::vector<Entry>> files(1);
  uint64_t at = 0;
  for (Entry &entry : entries) {
    if (most != 0 && !files.back().empty() && entry.bytes > most - std::min(at, most)) {
      files.emplace_back();
      at = 0;
    }
    entry.begin = at;
    at += entry.bytes;
    files.back().push_back(entry);
  }
  return files;
}

std::string headerOf(const std::vector<Entry> &entries, const std::string &run) {
  std::string text = "{\"__metadata__\":{\"format\":\"pt\",\"run\":" + jsonString(run) + "}";
  for (const Entry &entry : entries) {
    text += "," + jsonString(entry.tensor) + ":{\"dtype\":\"" +
            safetensorsType(entry.array->dtype) + "\",\"shape\":[";
    for (size_t i = 0; i < entry.array->shape.size(); ++i)
      text += (i ? "," : "") + std::to_string(entry.array->shape[i]);
    text += "],\"data_offsets\":[" + std::to_string(entry.begin) + "," +
            std::to_string(entry.begin + entry.bytes) + "]}";
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string length;
  for (unsigned i = 0; i < 8; ++i)
    length += char(uint64_t(text.size()) >> (8 * i) & 0xff);
  return length + text;
}

std::string fileName(size_t number, size_t count) {
  char text[64];
  std::snprintf(text, sizeof text, "model-%05zu-of-%05zu.safetensors", number + 1, count);
  return count == 1 ? soleTensorFile : text;
}

} // namespace

SafetensorsLayout reprise::runtime::layOutTensors(const OutputFolder &folder,
                                                  const std::string &run) {
  std::vector<std::vector<Entry>> files = cutIntoFiles(sortEntries(folder), folder.shardBytes);
  SafetensorsLayout layout;
  uint64_t total = 0;
  std::map<std::string, std::string> fileOf; // by tensor
  for (size_t i = 0; i < files.size(); ++i) {
    SafetensorsLayout::File file = {fileName(i, files.size()), headerOf(files[i], run), 0};
    for (const Entry &entry : files[i]) {
      layout.places[entry.array->name] = {i, file.header.size() + entry.begin};
      file.bytes += entry.bytes;
      fileOf[entry.tensor] = file.name;
    }
    total += file.bytes;
    layout.files.push_back(std::move(file));
  }
  if (files.size() == 1)
    return layout;
  for (const auto &[tensor, file] : fileOf)
    layout.index += (layout.index.empty() ? "\n    " : ",\n    ") + jsonString(tensor) + ": " +
                    jsonString(file);
  layout.index = "{\n  \"metadata\": {\n    \"total_size\": " + std::to_string(total) +
                 "\n  },\n  \"weight_map\": {" + layout.index + "\n  }\n}\n";
  return layout;
}
