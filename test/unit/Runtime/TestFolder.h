// reprise: folders of runs for tests
#ifndef REPRISE_TEST_UNIT_RUNTIME_TESTFOLDER_H
#define REPRISE_TEST_UNIT_RUNTIME_TESTFOLDER_H

#include "reprise/Runtime/RunFolder.h"

namespace reprise::runtime::test {

/// Returns the output of a program `train` whose results are `arrays`.
inline OutputFolder describeOutput(const std::string &path, const std::vector<ArrayRef> &arrays) {
  OutputFolder output{path, {"train", {}, {}}, {}, ""};
  for (const ArrayRef &array : arrays)
    output.interface.results.push_back({array.name, Role::Input, array.dtype, array.shape});
  return output;
}

} // namespace reprise::runtime::test

#endif // REPRISE_TEST_UNIT_RUNTIME_TESTFOLDER_H
