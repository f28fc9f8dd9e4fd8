// reprise: the command lines of our tools; one table gives the parser, --help, man pages and
// completion
#ifndef REPRISE_TOOLS_COMMANDLINE_COMMANDLINE_H
#define REPRISE_TOOLS_COMMANDLINE_COMMANDLINE_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// This library links neither MLIR nor LLVM, since reprise-run does not.
namespace reprise::cli {

class Tool;

/// Flag or, without leading dashes in its name, an operand. It registers in the table of its tool
/// on construction, so that the members of a struct are listed in the order of declaration.
class Option {
public:
  /// `value` is how help calls the value; empty for a switch.
  Option(Tool &tool, std::string name, std::string value, std::string help);
  virtual ~Option() = default;
  Option(const Option &) = delete;
  Option &operator=(const Option &) = delete;

  /// Takes a value from the command line; returns the allowed values if it is invalid, otherwise an
  /// empty string.
  virtual std::string take(const std::string &text) = 0;
  virtual bool isRepeated() const { return false; }
  virtual bool isFile() const { return false; }
  /// Values to complete.
  virtual std::vector<std::string> choices() const { return {}; }

  bool isGiven() const { return given; }
  bool isOperand() const { return name[0] != '-'; }
  /// Returns `--name=VALUE`, as help and messages show it.
  std::string spelled() const;

  const std::string name, value, help;

private:
  friend class Tool;
  bool given = false;
};

/// Heading of the options that are declared after it.
struct Group {
  Group(Tool &tool, std::string title);
};

/// Part of help without options: terms and their meanings.
struct Section {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
};

class Tool {
public:
  /// Makes a tool; `usage` is the text behind its name.
  Tool(std::string name, std::string summary, std::string usage);

  /// Reads the command line. Returns the exit code if the tool has to end: 0 after --help and
  /// --version, 2 with one line about the fault.
  std::optional<int> parse(int count, const char *const *words);

  /// The two halves of parse(). What --help and --version ask for is printed unless `isSilent`; the
  /// exit code, if that is all.
  std::optional<int> answer(int count, const char *const *words, bool isSilent) const;
  /// Reads the command line. Returns its fault, or an empty string.
  std::string read(int count, const char *const *words);

  /// Handles only --version, --help=man and --help=bash, alone, for tools whose options MLIR reads.
  std::optional<int> parseAlone(int count, const char *const *words) const;

  /// Prints one line about wrong usage; returns the exit code 2.
  int refuse(const std::string &message) const;

  void add(Section section) { sections.push_back(std::move(section)); }
  void addExample(std::string command, std::string what) {
    examples.push_back({std::move(command), std::move(what)});
  }

private:
  friend class Option;
  friend struct Group;
  friend class Page;
  struct OptionGroup {
    std::string title;
    std::vector<Option *> options;
  };

  bool print(const std::string &word, bool isSilent = false) const;
  std::string take(const std::vector<std::string> &words);
  std::string takeFlag(const std::vector<std::string> &words, size_t &at);
  std::string takeOperand(const std::string &word);
  std::string give(Option &option, const std::string &text);
  std::string refuseUnknown(const std::string &name) const;
  Option *find(const std::string &name) const;

  std::string name, summary, usage;
  std::vector<Option *> operands;
  std::vector<OptionGroup> groups;
  std::vector<Section> sections;
  std::vector<std::pair<std::string, std::string>> examples;
};

/// Numbers from `least` to `most`.
template <class T> struct Range {
  T least = std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
};

/// Read a number; return the allowed values if the text is no number of the range.
std::string readNumber(const std::string &text, Range<int64_t> range, int64_t &number);
std::string readNumber(const std::string &text, Range<double> range, double &number);

/// A number: int64_t, unsigned or double.
template <class T> class Number : public Option {
public:
  Number(Tool &tool, std::string name, std::string value, std::string help, T initial = T(),
         Range<T> range = {})
      : Option(tool, std::move(name), std::move(value), std::move(help)), number(initial),
        range(range) {}
  operator T() const { return number; }
  std::string take(const std::string &text) override {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    Wide wide = 0;
    std::string allowed = readNumber(text, Range<Wide>{Wide(range.least), Wide(range.most)}, wide);
    if (allowed.empty())
      number = static_cast<T>(wide);
    return allowed;
  }

private:
  T number;
  Range<T> range;
};

/// Text that must not be empty if given, such as a path.
class Text : public Option {
public:
  Text(Tool &tool, std::string name, std::string value, std::string help, std::string initial = "",
       std::vector<std::string> choices = {})
      : Option(tool, std::move(name), std::move(value), std::move(help)), text(std::move(initial)),
        known(std::move(choices)) {}
  operator const std::string &() const { return text; }
  const std::string &get() const { return text; }
  bool empty() const { return text.empty(); }
  std::string take(const std::string &given) override {
    text = given;
    return given.empty() ? "a value" : "";
  }
  bool isFile() const override { return known.empty(); }
  std::vector<std::string> choices() const override { return known; }

private:
  std::string text;
  std::vector<std::string> known;
};

/// Texts, one for each time that the flag is given.
class Texts : public Option {
public:
  Texts(Tool &tool, std::string name, std::string value, std::string help,
        std::vector<std::string> choices = {})
      : Option(tool, std::move(name), std::move(value), std::move(help)),
        known(std::move(choices)) {}
  std::vector<std::string>::const_iterator begin() const { return texts.begin(); }
  std::vector<std::string>::const_iterator end() const { return texts.end(); }
  bool empty() const { return texts.empty(); }
  size_t size() const { return texts.size(); }
  std::string take(const std::string &given) override {
    texts.push_back(given);
    return given.empty() ? "a value" : "";
  }
  bool isRepeated() const override { return true; }
  bool isFile() const override { return known.empty(); }
  std::vector<std::string> choices() const override { return known; }

private:
  std::vector<std::string> texts, known;
};

class Switch : public Option {
public:
  Switch(Tool &tool, std::string name, std::string help)
      : Option(tool, std::move(name), "", std::move(help)) {}
  operator bool() const { return isGiven(); }
  std::string take(const std::string &) override { return ""; }
};

/// Returns "A, B, C", or "A, B or C" with " or " as `last`.
std::string joinChoices(const std::vector<std::string> &choices, const std::string &last = ", ");

/// Choice of one of several words.
template <class T> class Choice : public Option {
public:
  /// The first is the initial one.
  Choice(Tool &tool, std::string name, std::string value, std::string help,
         std::vector<std::pair<std::string, T>> words)
      : Option(tool, std::move(name), std::move(value), std::move(help)), words(std::move(words)),
        chosen(this->words.front().second) {}
  operator T() const { return chosen; }
  std::string take(const std::string &text) override {
    for (const auto &[word, what] : words)
      if (word == text) {
        chosen = what;
        return "";
      }
    return "one of " + joinChoices(choices());
  }
  std::vector<std::string> choices() const override {
    std::vector<std::string> names;
    for (const auto &[word, what] : words)
      names.push_back(word);
    return names;
  }

private:
  std::vector<std::pair<std::string, T>> words;
  T chosen;
};

} // namespace reprise::cli

#endif // REPRISE_TOOLS_COMMANDLINE_COMMANDLINE_H
