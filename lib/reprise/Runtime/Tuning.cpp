// reprise: the algorithm for each library call, stored beside the bundle
//
// {"version": 1, "gpus": [{"gpu": G, "libraries": {L: {"version": V, "algorithms": {KEY: HEX}}}}]}
#include "reprise/Runtime/Tuning.h"

#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Json.h"

#include <sys/stat.h>

namespace reprise::runtime {

static std::string toHex(const std::vector<uint8_t> &bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

static std::optional<std::vector<uint8_t>> fromHex(const std::string &text) {
  static const std::string digits = "0123456789abcdef";
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    size_t high = digits.find(text[i]), low = digits.find(text[i + 1]);
    if (high == std::string::npos || low == std::string::npos)
      return std::nullopt;
    bytes.push_back(uint8_t(high << 4 | low));
  }
  return text.size() % 2 ? std::nullopt : std::optional(bytes);
}

std::string Tuning::pathBeside(const std::string &bundle) {
  struct stat info;
  bool isFile = stat(bundle.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  return isFile ? bundle + ".tuning" : "";
}

static const JsonValue *member(const JsonValue &value, const char *key, JsonValue::Kind kind) {
  const JsonValue *found = value.find(key);
  return found && found->kind == kind ? found : nullptr;
}

Error Tuning::read(const std::string &text) {
  auto fail = [&](const std::string &why) {
    return Error::make(path + ": is not a file of chosen algorithms: " + why);
  };
  Expected<JsonValue> json = parseJson(text);
  if (!json)
    return fail(json.message());
  const JsonValue *version = json->find("version");
  if (!version || version->integer() != 1)
    return fail("expected version 1");
  const JsonValue *gpus = member(*json, "gpus", JsonValue::Array);
  if (!gpus)
    return fail("expected a list 'gpus'");
  for (const JsonValue &each : gpus->elements) {
    const JsonValue *gpu = member(each, "gpu", JsonValue::String);
    const JsonValue *libraries = member(each, "libraries", JsonValue::Object);
    if (!gpu || !libraries)
      return fail("expected 'gpu' and 'libraries' of each GPU");
    Entry &entry = entries[gpu->text];
    for (size_t i = 0; i < libraries->keys.size(); ++i) {
      const JsonValue &library = libraries->elements[i];
      const JsonValue *own = member(library, "version", JsonValue::String);
      const JsonValue *algorithms = member(library, "algorithms", JsonValue::Object);
      if (!own || !algorithms)
        return fail("expected 'version' and 'algorithms' of '" + libraries->keys[i] + "'");
      entry.libraries[libraries->keys[i]] = own->text;
      entry.choices[libraries->keys[i]];
      for (size_t k = 0; k < algorithms->keys.size(); ++k) {
        auto bytes = fromHex(algorithms->elements[k].text);
        if (algorithms->elements[k].kind != JsonValue::String || !bytes)
          return fail("expected bytes for '" + algorithms->keys[k] + "'");
        entry.choices[libraries->keys[i]][algorithms->keys[k]] = std::move(*bytes);
      }
    }
  }
  return Error::success();
}

Expected<std::string> Tuning::readContents() const {
  struct stat info;
  if (path.empty() || stat(path.c_str(), &info) != 0)
    return std::string();
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  return std::string(bytes->begin(), bytes->end());
}

Error Tuning::take(const std::string &contents) {
  isLoaded = true;
  return contents.empty() ? Error::success() : read(contents);
}

std::string Tuning::contents() {
  std::lock_guard<std::mutex> lock(mutex);
  return print();
}

/// Merges an entry: an entry that was only read from the file is replaced by that of the other
/// process.
void Tuning::merge(const std::string &gpu, const Entry &theirs) {
  Entry &own = entries[gpu];
  if (!own.isUsed) {
    isChanged |= own.libraries != theirs.libraries || own.choices != theirs.choices;
    own = theirs;
    own.isUsed = true;
    return;
  }
  for (const auto &[library, version] : theirs.libraries) {
    std::string &ownVersion = own.libraries.try_emplace(library, version).first->second;
    if (ownVersion != version)
      continue;
    for (const auto &[key, algorithm] : theirs.choices.at(library))
      isChanged |= own.choices[library].try_emplace(key, algorithm).second;
  }
}

Error Tuning::add(const std::string &contents) {
  Tuning other(path);
  if (Error error = other.take(contents))
    return error;
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &[gpu, entry] : other.entries)
    merge(gpu, entry);
  return Error::success();
}

/// Returns the entry of the GPU, without choices by other library versions.
Tuning::Entry &Tuning::open(const TuningMachine &machine) {
  if (!entries.count(machine.gpu) && !entries.empty() && !entries.begin()->second.isUsed)
    notes.push_back(path + ": was chosen on " + entries.begin()->first +
                    ", and is chosen again on " + machine.gpu);
  Entry &entry = entries[machine.gpu];
  entry.isUsed = true;
  std::string &version = entry.libraries[machine.library];
  if (version == machine.version)
    return entry;
  if (!version.empty()) {
    notes.push_back(path + ": was chosen by " + machine.library + " " + version +
                    ", and is chosen again by " + machine.version);
    entry.choices[machine.library].clear();
  }
  version = machine.version;
  return entry;
}

Expected<std::optional<std::vector<uint8_t>>> Tuning::find(const TuningMachine &machine,
                                                           const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!isLoaded) {
    Expected<std::string> read = readContents();
    if (!read)
      return read.error();
    if (Error error = take(*read))
      return error;
  }
  const Choices &choices = open(machine).choices[machine.library];
  auto found = choices.find(key);
  return found == choices.end() ? std::nullopt : std::optional(found->second);
}

void Tuning::choose(const TuningMachine &machine, const std::string &key,
                    std::vector<uint8_t> algorithm) {
  std::lock_guard<std::mutex> lock(mutex);
  open(machine).choices[machine.library][key] = std::move(algorithm);
  isChanged = true;
}

std::string Tuning::print() const {
  std::string text = "{\"version\": 1, \"gpus\": [";
  std::string afterGpu;
  for (const auto &[gpu, entry] : entries) {
    if (!entry.isUsed)
      continue;
    text += afterGpu + "\n  {\"gpu\": " + jsonString(gpu) + ", \"libraries\": {";
    afterGpu = ",";
    std::string afterLibrary;
    for (const auto &[library, choices] : entry.choices) {
      text += afterLibrary + "\n    " + jsonString(library) +
              ": {\"version\": " + jsonString(entry.libraries.at(library)) + ", \"algorithms\": {";
      afterLibrary = ",";
      std::string afterChoice;
      for (const auto &[key, bytes] : choices) {
        text += afterChoice + "\n      " + jsonString(key) + ": " + jsonString(toHex(bytes));
        afterChoice = ",";
      }
      text += "}}";
    }
    text += "}}";
  }
  return text + "]}\n";
}

void Tuning::write() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!isChanged || path.empty())
    return;
  isChanged = false;
  std::string text = print();
  if (Error error = writeFile(path, text.data(), text.size()))
    notes.push_back(error.message() + ", so that later runs choose algorithms again");
}

std::vector<std::string> Tuning::takeNotes() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::string> taken;
  taken.swap(notes);
  return taken;
}

std::string Tuning::describe(const std::string &key) const {
  return (path.empty() ? "" : path + ": ") + "the algorithm chosen for '" + key + "'";
}

} // namespace reprise::runtime
