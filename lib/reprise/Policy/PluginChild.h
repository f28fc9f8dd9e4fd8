// reprise: calls of a policy plugin, in a separate process
#ifndef REPRISE_LIB_POLICY_PLUGINCHILD_H
#define REPRISE_LIB_POLICY_PLUGINCHILD_H

#include "reprise-c/Policy.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace reprise {

/// Answer of a plugin, or its error.
struct PluginAnswer {
  std::string error; ///< text behind "policy plugin 'PATH' "; empty without an error
  std::string name;
  std::vector<uint8_t> labels;      ///< labels per op of the graph, as the plugin wrote them
  std::vector<std::string> reasons; ///< reasons per op; may be empty

  std::string write() const;
  /// Reads an answer. Returns false if the bytes are no answer.
  bool read(llvm::StringRef bytes);
};

/// Loads the plugin, makes an instance, and calls it with the graph.
PluginAnswer askPlugin(const std::string &path, llvm::StringRef options, const rp_graph &graph);
/// Asks an instance of the table about the graph.
PluginAnswer askTable(const rp_policy &table, void *self, const rp_graph &graph);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_PLUGINCHILD_H
