// reprise: reads the command lines of our tools
#include "CommandLine.h"

#include "Page.h"
#include "reprise/Support/Readable.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace reprise::cli {

Option::Option(Tool &tool, std::string name, std::string value, std::string help)
    : name(std::move(name)), value(std::move(value)), help(std::move(help)) {
  if (isOperand())
    tool.operands.push_back(this);
  else
    tool.groups.back().options.push_back(this);
}

std::string Option::spelled() const {
  // A one-letter flag takes its value as the next word.
  return value.empty() || isOperand() ? name : name + (name.size() == 2 ? " " : "=") + value;
}

Group::Group(Tool &tool, std::string title) { tool.groups.push_back({std::move(title), {}}); }

Tool::Tool(std::string name, std::string summary, std::string usage)
    : name(std::move(name)), summary(std::move(summary)), usage(std::move(usage)),
      groups({{"Options", {}}}) {}

int Tool::refuse(const std::string &message) const {
  std::fprintf(stderr, "%s: error: %s\n", name.c_str(), shortenMessage(message).c_str());
  return 2;
}

/// Prints the text of `--help` and similar words; returns false for any other word.
bool Tool::print(const std::string &word, bool isSilent) const {
  Page page(*this);
  std::string text = word == "--help" || word == "-h" ? page.help()
                     : word == "--help=man"           ? page.manual()
                     : word == "--help=bash"          ? page.completion()
                     : word == "--version"            ? page.version()
                                                      : "";
  if (!isSilent)
    std::fputs(text.c_str(), stdout);
  return !text.empty();
}

/// Returns the exit code of a tool that has printed the text of `--help` or similar words.
static int finish(const std::string &tool) {
  if (std::fflush(stdout) == 0)
    return 0;
  std::fprintf(stderr, "%s: error: cannot write the standard output: %s\n", tool.c_str(),
               std::strerror(errno));
  return 1;
}

std::optional<int> Tool::answer(int count, const char *const *words, bool isSilent) const {
  const char *const *end = std::find(words + 1, words + count, std::string("--"));
  for (const char *const *word = words + 1; word != end; ++word)
    if (print(*word, isSilent))
      return finish(name);
  return std::nullopt;
}

std::string Tool::read(int count, const char *const *words) {
  return take(std::vector<std::string>(words + 1, words + count));
}

std::optional<int> Tool::parse(int count, const char *const *words) {
  if (std::optional<int> code = answer(count, words, /*isSilent=*/false))
    return code;
  std::string wrong = read(count, words);
  return wrong.empty() ? std::nullopt : std::optional<int>(refuse(wrong));
}

std::optional<int> Tool::parseAlone(int count, const char *const *words) const {
  std::string word = count == 2 ? words[1] : "";
  if (word == "--help" || word == "-h" || !print(word))
    return std::nullopt;
  return finish(name);
}

std::string Tool::take(const std::vector<std::string> &words) {
  bool isOver = false; // behind `--` all words are operands
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string &word = words[at];
    if (!isOver && word == "--") {
      isOver = true;
      continue;
    }
    bool isFlag = !isOver && word.size() > 1 && word[0] == '-';
    if (std::string wrong = isFlag ? takeFlag(words, at) : takeOperand(word); !wrong.empty())
      return wrong;
  }
  for (const Option *operand : operands)
    if (!operand->isGiven())
      return "expected " + operand->spelled() + ": " + name + " " + usage;
  return "";
}

/// Returns the flag with this name, with any number of dashes.
Option *Tool::find(const std::string &flag) const {
  std::string bare = flag.substr(flag.find_first_not_of('-') == 1 ? 1 : 2);
  for (const OptionGroup &group : groups)
    for (Option *option : group.options)
      if (option->name == "-" + bare || option->name == "--" + bare)
        return option;
  return nullptr;
}

std::string Tool::takeFlag(const std::vector<std::string> &words, size_t &at) {
  const std::string &word = words[at];
  size_t equals = word.find('=');
  std::string flag = word.substr(0, equals);
  Option *option = flag.find_first_not_of('-') <= 2 ? find(flag) : nullptr;
  if (!option)
    return refuseUnknown(flag);
  if (option->value.empty())
    return equals == std::string::npos ? give(*option, "") : option->name + " takes no value";
  if (equals != std::string::npos)
    return give(*option, word.substr(equals + 1));
  if (at + 1 == words.size())
    return "expected a value, as in " + option->spelled();
  return give(*option, words[++at]);
}

std::string Tool::takeOperand(const std::string &word) {
  for (Option *operand : operands)
    if (!operand->isGiven())
      return give(*operand, word);
  return "unexpected argument '" + word + "', usage: " + name + " " + usage;
}

std::string Tool::give(Option &option, const std::string &text) {
  if (option.isGiven() && !option.isRepeated())
    return option.name + " is given twice";
  option.given = true;
  std::string allowed = option.take(text);
  if (allowed.empty())
    return "";
  std::string nearest = findNearest(text, option.choices());
  return "expected " + (option.isOperand() ? option.name + ", " : option.spelled() + ", ") +
         allowed + ", got '" + text + "'" +
         (nearest.empty() ? "" : ", did you mean '" + nearest + "'?");
}

std::string Tool::refuseUnknown(const std::string &flag) const {
  std::vector<std::string> names;
  for (const OptionGroup &group : groups)
    for (const Option *option : group.options)
      names.push_back(option->name);
  std::string nearest = findNearest(flag, names);
  return "unknown option '" + flag + "', " +
         (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") + name + " --help lists all";
}

std::string joinChoices(const std::vector<std::string> &choices, const std::string &last) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i)
    text += (i == 0 ? "" : i + 1 < choices.size() ? ", " : last) + choices[i];
  return text;
}

static std::string describe(const std::string &kind, bool hasLeast, bool hasMost,
                            const std::string &least, const std::string &most) {
  if (hasLeast && hasMost)
    return kind + " from " + least + " to " + most;
  return kind + (hasLeast ? " of at least " + least : hasMost ? " of at most " + most : "");
}

std::string readNumber(const std::string &text, Range<int64_t> range, int64_t &number) {
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isWhole = code == std::errc() && end == text.data() + text.size();
  if (isWhole && number >= range.least && number <= range.most)
    return "";
  Range<int64_t> all;
  return describe("an integer", range.least != all.least, range.most != all.most,
                  std::to_string(range.least), std::to_string(range.most));
}

static std::string shorten(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string readNumber(const std::string &text, Range<double> range, double &number) {
  char *end = nullptr;
  number = std::strtod(text.c_str(), &end);
  bool isNumber = !text.empty() && end == text.c_str() + text.size() && !std::isnan(number);
  if (isNumber && number >= range.least && number <= range.most)
    return "";
  Range<double> all;
  return describe("a number", range.least != all.least, range.most != all.most,
                  shorten(range.least), shorten(range.most));
}

} // namespace reprise::cli
