// reprise: a policy plugin at work, in a process of its own
#ifndef REPRISE_LIB_POLICY_PLUGINCHILD_H
#define REPRISE_LIB_POLICY_PLUGINCHILD_H

#include "reprise-c/Policy.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace reprise {

/// What a plugin decided, or what is wrong with it.
struct PluginAnswer {
  std::string error; ///< behind "policy plugin 'PATH' "; empty: none
  std::string name;
  std::vector<uint8_t> labels;      ///< per op of the graph, as the plugin wrote them
  std::vector<std::string> reasons; ///< per op, empty where there is none

  std::string write() const;
  /// False if these are not the bytes of an answer.
  bool read(llvm::StringRef bytes);
};

/// Loads the plugin, makes an instance, and asks it about the graph.
PluginAnswer askPlugin(const std::string &path, llvm::StringRef options, const rp_graph &graph);
/// Asks an instance of the table about the graph.
PluginAnswer askTable(const rp_policy &table, void *self, const rp_graph &graph);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_PLUGINCHILD_H
