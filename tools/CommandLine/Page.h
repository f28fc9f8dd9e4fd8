// reprise: the table of a tool as text, as a man page and as a completion of bash
#ifndef REPRISE_TOOLS_COMMANDLINE_PAGE_H
#define REPRISE_TOOLS_COMMANDLINE_PAGE_H

#include "CommandLine.h"

namespace reprise::cli {

class Page {
public:
  explicit Page(const Tool &tool) : tool(tool) {}
  std::string help() const;
  std::string manual() const;
  std::string completion() const;
  std::string version() const;

private:
  /// Options by their groups, and sections, as titles and rows.
  std::vector<Section> list() const;
  const Tool &tool;
};

} // namespace reprise::cli

#endif // REPRISE_TOOLS_COMMANDLINE_PAGE_H
