// reprise: packing problems as MiniMalloc's CSV files
#ifndef REPRISE_PLANNING_OFFSETS_CSV_H
#define REPRISE_PLANNING_OFFSETS_CSV_H

#include "reprise/Planning/Offsets/Problem.h"

namespace reprise::offsets {

/// Problem with the names of the buffers in its file.
struct Table {
  Problem problem; ///< alignment 1, no groups
  std::vector<std::string> names;
};

/// Reads lines `id,lower,upper,size` below that heading: a buffer of `size` bytes lives from time
/// `lower` until before `upper`. Returns an error `LINE: error: MESSAGE`, or an empty string.
std::string readCsv(const std::string &text, Table &table);

/// Writes the lines of the table with the column `offset`.
std::string writeCsv(const Table &table, const Solution &solution);

} // namespace reprise::offsets

#endif // REPRISE_PLANNING_OFFSETS_CSV_H
