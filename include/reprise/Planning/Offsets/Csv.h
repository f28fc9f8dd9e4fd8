// reprise: packing problems as MiniMalloc's CSV files
#ifndef REPRISE_PLANNING_OFFSETS_CSV_H
#define REPRISE_PLANNING_OFFSETS_CSV_H

#include "reprise/Planning/Offsets/Problem.h"

namespace reprise::offsets {

/// A problem and what its file calls the buffers.
struct Table {
  Problem problem; ///< alignment 1, no groups
  std::vector<std::string> names;
};

/// Reads lines `id,lower,upper,size` below that heading: a buffer of `size` bytes lives from time
/// `lower` until before `upper`. Returns what is wrong, as `LINE: error: MESSAGE`, or nothing.
std::string readCsv(const std::string &text, Table &table);

/// The same lines with the column `offset`.
std::string writeCsv(const Table &table, const Solution &solution);

} // namespace reprise::offsets

#endif // REPRISE_PLANNING_OFFSETS_CSV_H
