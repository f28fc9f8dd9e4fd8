// reprise: the table of a tool as text, as a man page and as a completion of bash
#include "Page.h"

#include <algorithm>

namespace reprise::cli {

static const std::pair<const char *, const char *> exitCodes[] = {
    {"0", "success"},
    {"1", "the input is at fault, or a file cannot be written"},
    {"2", "wrong usage"}};

static const std::pair<const char *, const char *> common[] = {{"--help", "Print this"},
                                                               {"--version", "Print the version"}};

std::vector<Section> Page::list() const {
  std::vector<Section> sections;
  if (!tool.operands.empty()) {
    Section operands{"Operands", {}};
    for (const Option *operand : tool.operands)
      operands.rows.push_back({operand->name, operand->help});
    sections.push_back(std::move(operands));
  }
  for (const Tool::OptionGroup &group : tool.groups) {
    if (group.options.empty())
      continue;
    Section section{group.title, {}};
    for (const Option *option : group.options)
      section.rows.push_back({option->spelled(), option->help});
    sections.push_back(std::move(section));
  }
  Section others{"Help", {}};
  for (auto [flag, what] : common)
    others.rows.push_back({flag, what});
  sections.push_back(std::move(others));
  sections.insert(sections.end(), tool.sections.begin(), tool.sections.end());
  return sections;
}

/// Returns `text` in lines of at most `width`; all but the first are indented by `indent` spaces.
static std::string wrap(const std::string &text, size_t indent, size_t width) {
  std::string result, line;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) {
      result += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return result + line + "\n";
}

static std::string row(const std::string &term, const std::string &what) {
  constexpr size_t column = 27, width = 100;
  std::string text = "  " + term;
  if (text.size() + 2 > column)
    text += "\n" + std::string(column, ' ');
  else
    text.resize(column, ' ');
  return text + wrap(what, column, width);
}

std::string Page::help() const {
  std::string text =
      tool.name + ": " + tool.summary + "\n\nusage: " + tool.name + " " + tool.usage + "\n";
  for (const Section &section : list()) {
    text += "\n" + section.title + ":\n";
    for (const auto &[term, what] : section.rows)
      text += row(term, what);
  }
  if (!tool.examples.empty())
    text += "\nExamples:\n";
  for (const auto &[command, what] : tool.examples)
    text += "  " + command + "\n      " + wrap(what, 6, 100);
  text += "\nExit codes:\n";
  for (auto [code, what] : exitCodes)
    text += row(code, what);
  return text;
}

std::string Page::version() const {
  return tool.name + ": Reprise " REPRISE_VERSION ", built with LLVM " REPRISE_LLVM_VERSION "\n";
}

/// Escapes text for roff.
static std::string roff(const std::string &text) {
  std::string escaped = text[0] == '.' || text[0] == '\'' ? "\\&" : "";
  for (char letter : text)
    escaped += letter == '\\' ? "\\e" : letter == '-' ? "\\-" : std::string(1, letter);
  return escaped;
}

static std::string entry(const std::string &term, const std::string &what) {
  return ".TP\n.B " + roff(term) + "\n" + roff(what) + "\n";
}

std::string Page::manual() const {
  std::string title = tool.name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char letter) { return std::toupper(letter); });
  std::string text = ".TH " + title + " 1 \"\" \"Reprise " REPRISE_VERSION "\"\n.SH NAME\n" +
                     roff(tool.name) + " \\- " + roff(tool.summary) + "\n.SH SYNOPSIS\n.B " +
                     roff(tool.name) + "\n" + roff(tool.usage) + "\n.SH OPTIONS\n";
  for (const Section &section : list()) {
    text += ".SS " + roff(section.title) + "\n";
    for (const auto &[term, what] : section.rows)
      text += entry(term, what);
  }
  if (!tool.examples.empty())
    text += ".SH EXAMPLES\n";
  for (const auto &[command, what] : tool.examples)
    text += entry(command, what);
  text += ".SH EXIT STATUS\n";
  for (auto [code, what] : exitCodes)
    text += entry(code, what);
  return text;
}

std::string Page::completion() const {
  std::string function = "_" + tool.name, flags, cases, files;
  std::replace(function.begin(), function.end(), '-', '_');
  for (auto [flag, what] : common)
    flags += std::string(flag) + " ";
  for (const Tool::OptionGroup &group : tool.groups)
    for (const Option *option : group.options) {
      bool isJoined = !option->value.empty() && option->name.size() > 2;
      flags += option->name + (isJoined ? "= " : " ");
      std::string words;
      for (const std::string &choice : option->choices())
        words += choice + " ";
      if (!words.empty())
        cases += "    " + option->name + ") COMPREPLY=($(compgen -W '" + words +
                 "' -- \"$word\")); return ;;\n";
      else if (option->isFile() && !option->value.empty())
        files += (files.empty() ? "" : "|") + option->name;
    }
  // Words end at '=', which bash puts between flag and value.
  return "# bash completion of " + tool.name + "\n" + function +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  if [[ $word == = ]]; then word=; elif [[ $flag == = ]]; then "
         "flag=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  case $flag in\n" +
         cases +
         (files.empty()
              ? ""
              : "    " + files + ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n") +
         "  esac\n"
         "  if [[ $word != -* ]]; then COMPREPLY=($(compgen -f -- \"$word\")); return; fi\n"
         "  COMPREPLY=($(compgen -W '" +
         flags +
         "' -- \"$word\"))\n"
         "  [[ ${COMPREPLY-} != *= ]] || compopt -o nospace\n"
         "}\n"
         "complete -o filenames -F " +
         function + " " + tool.name + "\n";
}

} // namespace reprise::cli
