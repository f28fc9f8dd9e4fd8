// reprise: graphs for the planner, as JSON
#ifndef REPRISE_LIB_PLANTEXTS_GRAPH_H
#define REPRISE_LIB_PLANTEXTS_GRAPH_H

#include "reprise/Planning/Checkpoint/Graph/Graph.h"
#include "llvm/ADT/StringRef.h"

namespace reprise {

/// Reads networkx's node-link JSON, the format of Checkmate's and Moccasin's graphs. A node is an
/// operation with one result: its cost is `cost_cpu` or `duration`, its bytes `cost_ram` or
/// `out_cost`; a link goes from the producer to the reader. The order is `graph.order` or, without
/// it, that of the ids. Returns an error, or an empty string.
std::string readGraph(llvm::StringRef text, checkpoint::Graph &graph);

} // namespace reprise

#endif // REPRISE_LIB_PLANTEXTS_GRAPH_H
