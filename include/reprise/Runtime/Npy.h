// reprise: arrays as .npy files
#ifndef REPRISE_RUNTIME_NPY_H
#define REPRISE_RUNTIME_NPY_H

#include "reprise/Runtime/ArrayFile.h"

namespace reprise::runtime {

/// Writes the file as numpy does: version 1.0, little endian, C order; bf16 as uint16, i1 as bool;
/// NaNs canonical. The file is written whole or not at all.
Error writeNpy(const std::string &path, const ArrayRef &array);
/// Writes an array whose rows are given in consecutive parts, in the same format.
Error writeNpyParts(const std::string &path, const std::vector<ArrayRef> &parts);
/// Writes rows of an array into a file while other processes may write other rows.
Error writeNpyRows(const std::string &path, const ArrayRef &part);

/// Opens a .npy file of version 1.0 or 2.0. Errors name the file: not .npy, another type than
/// `dtype`, big endian, Fortran order, truncated, longer than its shape.
Expected<ArrayFile> openNpy(const std::string &path, DType dtype);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_NPY_H
