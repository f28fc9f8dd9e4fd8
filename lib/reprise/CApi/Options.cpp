// reprise: options of the C API, texts by the names of the tools' flags
#include "Options.h"

#include "Handles.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/STLExtras.h"

using namespace reprise::capi;
using llvm::StringRef;

namespace {
enum class Kind { Text, Texts, Switch, Integer, Number };

struct Option {
  StringRef key;
  Kind kind;
  unsigned uses;
  int64_t least = 0; ///< minimum of an integer or a number
  int64_t most = INT64_MAX;
};
} // namespace

static constexpr Option known[] = {{"allow-unmatched-rules", Kind::Switch, ForCompile},
                                   {"budget", Kind::Texts, ForCompile | ForPlan},
                                   {"capacity", Kind::Integer, ForPlan, 1},
                                   {"check-indices", Kind::Switch, ForRun},
                                   {"checkpoint", Kind::Text, ForCompile},
                                   {"chunks", Kind::Integer, ForCompile, 1, 64},
                                   {"contractions", Kind::Text, ForCompile},
                                   {"device", Kind::Text, ForRun},
                                   {"device-file", Kind::Texts, ForCompile},
                                   {"entry", Kind::Text, ForCompile},
                                   {"estimate", Kind::Switch, ForCompile},
                                   {"gathers", Kind::Text, ForCompile},
                                   {"ignore-checkpoints", Kind::Switch, ForCompile},
                                   {"lanes", Kind::Integer, ForCompile, 1},
                                   {"memory", Kind::Text, ForRun},
                                   {"mesh", Kind::Text, ForCompile},
                                   {"microbatches", Kind::Integer, ForCompile, 1},
                                   {"model-lanes", Kind::Integer, ForCompile, 1},
                                   {"or-least", Kind::Switch, ForPlan},
                                   {"plan", Kind::Text, ForCompile},
                                   {"plan-in", Kind::Text, ForCompile},
                                   {"policy", Kind::Texts, ForCompile},
                                   {"profile", Kind::Text, ForCompile},
                                   {"schedule", Kind::Texts, ForCompile | ForPlan},
                                   {"shards", Kind::Text, ForCompile},
                                   {"stages", Kind::Text, ForCompile},
                                   {"target", Kind::Texts, ForCompile},
                                   {"threads", Kind::Integer, ForCompile | ForRun, 1, 4096},
                                   {"time-limit", Kind::Number, ForCompile | ForPlan},
                                   {"unroll", Kind::Switch, ForCompile},
                                   {"verify-replays", Kind::Switch, ForCompile}};

static const Option *findOption(StringRef key) {
  const Option *found =
      llvm::find_if(known, [&](const Option &option) { return option.key == key; });
  return found == std::end(known) ? nullptr : found;
}

/// Returns the fault of a value; empty if it is valid.
static std::string checkValue(const Option &option, StringRef value) {
  auto expected = [&](const std::string &what) {
    return "expected " + what + " for option '" + option.key.str() + "', got '" + value.str() + "'";
  };
  int64_t integer = 0;
  double number = 0;
  if (option.kind == Kind::Switch && value != "true" && value != "false")
    return expected("true or false");
  if (option.kind == Kind::Integer &&
      (value.getAsInteger(10, integer) || integer < option.least || integer > option.most))
    return expected("an integer from " + std::to_string(option.least) +
                    (option.most == INT64_MAX ? " on" : " to " + std::to_string(option.most)));
  if (option.kind == Kind::Number &&
      (value.getAsDouble(number) || !(number >= static_cast<double>(option.least))))
    return expected("a number from " + std::to_string(option.least) + " on");
  return "";
}

std::vector<std::string> reprise_options::texts(StringRef key) const {
  auto found = values.find(key.str());
  return found == values.end() ? std::vector<std::string>() : found->second;
}

std::string reprise_options::text(StringRef key) const {
  std::vector<std::string> all = texts(key);
  return all.empty() ? "" : all.back();
}

int64_t reprise_options::integer(StringRef key) const {
  int64_t value = 0;
  (void)StringRef(text(key)).getAsInteger(10, value);
  return value;
}

double reprise_options::number(StringRef key) const {
  double value = 0;
  (void)StringRef(text(key)).getAsDouble(value);
  return value;
}

std::string reprise::capi::checkUse(const reprise_options *options, Use use) {
  static constexpr std::pair<Use, StringRef> names[] = {
      {ForCompile, "a compilation"}, {ForRun, "a run"}, {ForPlan, "a planning problem"}};
  if (!options)
    return "";
  StringRef what;
  for (auto [own, name] : names)
    if (own == use)
      what = name;
  for (const auto &[key, values] : options->values)
    if (!(findOption(key)->uses & use))
      return "option '" + key + "' is not one of " + what.str();
  return "";
}

reprise_options *reprise_options_create(void) { return new reprise_options; }
void reprise_options_destroy(reprise_options *options) { delete options; }

reprise_error *reprise_options_set(reprise_options *options, const char *key, const char *value) {
  if (reprise_error *error = refuseNull({{"options", options}, {"key", key}, {"value", value}}))
    return error;
  const Option *option = findOption(key);
  if (!option) {
    std::vector<StringRef> keys;
    for (const Option &other : known)
      keys.push_back(other.key);
    return makeError("unknown option '" + std::string(key) + "'" + reprise::suggest(key, keys),
                     REPRISE_BAD_USAGE);
  }
  if (std::string wrong = checkValue(*option, value); !wrong.empty())
    return makeError(wrong, REPRISE_BAD_USAGE);
  std::vector<std::string> &values = options->values[key];
  if (option->kind != Kind::Texts)
    values.clear();
  values.push_back(value);
  return nullptr;
}
