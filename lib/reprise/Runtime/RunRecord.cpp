// reprise: run.json, the record of a run in its folder: state, and interface of the program
#include "reprise/Runtime/RunRecord.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Json.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

using Array = RunInterface::Array;

Error reprise::runtime::checkRunState(const RunState &state) {
  if (state.offset < 0 || state.offset % 4 != 0)
    return Error::make("the offset " + std::to_string(state.offset) + " is no multiple of 4");
  if (state.step < 0)
    return Error::make("the step " + std::to_string(state.step) + " is negative");
  return Error::success();
}

RunInterface reprise::runtime::describeInterface(const Bundle &bundle) {
  RunInterface interface{bundle.entry, {}, {}};
  std::string offset = bundle.offsetName();
  for (const Argument &argument : bundle.arguments)
    if (argument.role < Role::Seed && beginsArray(argument))
      interface.arguments.push_back(
          {arrayName(argument), argument.role, argument.dtype, arrayShape(argument)});
  for (const Result &result : bundle.results)
    if (beginsArray(result) && (offset.empty() || result.name != offset))
      interface.results.push_back(
          {arrayName(result), Role::Input, result.dtype, arrayShape(result)});
  return interface;
}

//===-- Text ----------------------------------------------------------------------------------===//

static std::string arraysText(const std::vector<Array> &arrays, bool hasRoles) {
  std::string text;
  for (const Array &array : arrays) {
    text += text.empty() ? "\n" : ",\n";
    text += "  {\"name\": " + jsonString(array.name);
    if (hasRoles)
      text += std::string(", \"role\": \"") + roleName(array.role) + "\"";
    text += std::string(", \"type\": \"") + dtypeName(array.dtype) + "\", \"shape\": [";
    for (size_t i = 0; i < array.shape.size(); ++i)
      text += (i ? ", " : "") + std::to_string(array.shape[i]);
    text += "]}";
  }
  return "[" + text + "]";
}

std::string reprise::runtime::runRecordText(const RunState &state, const RunInterface &interface) {
  return "{\"seed\": " + std::to_string(state.seed) +
         ", \"next_offset\": " + std::to_string(state.offset) +
         ", \"next_step\": " + std::to_string(state.step) +
         ", \"entry\": " + jsonString(interface.entry) +
         ",\n \"arguments\": " + arraysText(interface.arguments, /*hasRoles=*/true) +
         ",\n \"results\": " + arraysText(interface.results, /*hasRoles=*/false) + "}\n";
}

/// Returns the number below `count` whose name is `text`.
template <typename Name>
static std::optional<unsigned> numberOf(const JsonValue *text, unsigned count, Name name) {
  for (unsigned i = 0; text && text->kind == JsonValue::String && i < count; ++i)
    if (text->text == name(i))
      return i;
  return std::nullopt;
}

static bool readArray(const JsonValue &value, bool hasRole, Array &array) {
  const JsonValue *name = value.find("name"), *shape = value.find("shape");
  auto dtype =
      numberOf(value.find("type"), numDTypes, [](unsigned i) { return dtypeName(DType(i)); });
  auto role = numberOf(value.find("role"), numRoles, [](unsigned i) { return roleName(Role(i)); });
  if (!name || name->kind != JsonValue::String || !dtype || (hasRole && !role) || !shape ||
      shape->kind != JsonValue::Array)
    return false;
  array.name = name->text;
  array.dtype = DType(*dtype);
  array.role = Role(hasRole ? *role : 0);
  for (const JsonValue &element : shape->elements) {
    std::optional<int64_t> size = element.integer();
    if (!size)
      return false;
    array.shape.push_back(*size);
  }
  return true;
}

static bool readArrays(const JsonValue *value, bool hasRoles, std::vector<Array> &arrays) {
  if (!value || value->kind != JsonValue::Array)
    return false;
  return std::all_of(value->elements.begin(), value->elements.end(), [&](const JsonValue &each) {
    return readArray(each, hasRoles, arrays.emplace_back());
  });
}

Expected<RunRecord> reprise::runtime::parseRunRecord(const std::string &text) {
  Expected<JsonValue> object = parseJson(text);
  if (!object)
    return object.error();
  RunRecord record;
  const std::pair<const char *, int64_t *> fields[] = {{"seed", &record.state.seed},
                                                       {"next_offset", &record.state.offset},
                                                       {"next_step", &record.state.step}};
  for (auto [key, into] : fields) {
    const JsonValue *number = object->find(key);
    if (!number || !number->integer())
      return Error::make(std::string("expected an integer '") + key + "'");
    *into = *number->integer();
  }
  const JsonValue *entry = object->find("entry");
  const JsonValue *arguments = object->find("arguments"), *results = object->find("results");
  if (entry || arguments || results) {
    RunInterface &interface = record.interface.emplace();
    if (!entry || entry->kind != JsonValue::String ||
        !readArrays(arguments, /*hasRoles=*/true, interface.arguments) ||
        !readArrays(results, /*hasRoles=*/false, interface.results))
      return Error::make("expected 'entry', 'arguments' and 'results' as a run writes them");
    interface.entry = entry->text;
  }
  if (Error error = checkRunState(record.state))
    return error;
  return record;
}

Expected<std::optional<RunRecord>> reprise::runtime::readRunRecord(const std::string &folder) {
  std::string path = folder + "/run.json";
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT)
    return std::optional<RunRecord>();
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  Expected<RunRecord> record = parseRunRecord(std::string(bytes->begin(), bytes->end()));
  if (!record)
    return Error::make("cannot read '" + path + "': " + record.message());
  return std::optional<RunRecord>(std::move(*record));
}

//===-- Going on ------------------------------------------------------------------------------===//

static const Array *findArray(const std::vector<Array> &arrays, const std::string &name) {
  for (const Array &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}

static std::string nounOf(const std::string &path) {
  struct stat status{};
  bool isFile = stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
  return isFile ? "the file" : "the folder";
}

Error reprise::runtime::checkRecord(const std::string &folder,
                                    const std::optional<RunRecord> &record, const RunInterface &own,
                                    const std::vector<bool> &has) {
  auto fail = [&](const std::string &why) {
    return Error::make("cannot continue from '" + folder + "': " + why);
  };
  const RunInterface *theirs = record && record->interface ? &*record->interface : nullptr;
  for (size_t i = 0; i < own.arguments.size(); ++i) {
    const Array &array = own.arguments[i];
    bool isKept = array.role == Role::State || findArray(own.results, array.name);
    if (has[i] || !(array.role == Role::Parameter || (record && isKept)))
      continue;
    return fail((theirs ? "the output of entry '" + theirs->entry + "'" : nounOf(folder)) +
                " has no " + roleName(array.role) + " '" + array.name + "'");
  }
  if (!theirs || theirs->entry != own.entry)
    return Error::success();
  for (const Array &array : theirs->arguments)
    if (array.role == Role::Parameter && !findArray(own.arguments, array.name))
      return fail(nounOf(folder) + " is from another model, with parameter '" + array.name + "'");
  return Error::success();
}
