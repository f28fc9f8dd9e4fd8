// reprise: the values that a caller has given to the arguments of one device program
#ifndef REPRISE_LIB_RUNTIME_GIVENVALUES_H
#define REPRISE_LIB_RUNTIME_GIVENVALUES_H

#include "InputUploads.h"
#include "reprise/Runtime/RunFolder.h"

namespace reprise::runtime {

/// A value of an argument, or one value per step.
struct GivenValue {
  std::shared_ptr<const ArrayFile> file; ///< file with all rows of the array
  std::vector<uint8_t> bytes;            ///< bytes of the argument, without a file
  int64_t rows = -1;                     ///< one per absolute step, or -1 for a single value
};

/// Values by argument. They are read into the arguments; those of the next step are uploaded while
/// the device runs a step.
class GivenValues {
public:
  explicit GivenValues(Executable &executable);

  /// Takes the value of an argument from a file. Opens the array if `file` is null.
  Error giveArray(size_t argument, const ArraySource &source,
                  std::shared_ptr<const ArrayFile> &file);
  /// Copies the rows of an argument from a value for its whole array.
  Error giveValue(size_t argument, const ArrayRef &value);
  void drop(size_t argument) { values[argument].reset(); }

  bool has(size_t argument) const { return values[argument].has_value(); }
  bool hasPerStep(size_t argument) const { return has(argument) && values[argument]->rows >= 0; }
  /// Returns the file of an argument; null without one.
  const ArrayFile *file(size_t argument) const {
    return has(argument) ? values[argument]->file.get() : nullptr;
  }

  /// Fails if an argument has one value per step, and fewer than `steps`.
  Error checkRows(size_t argument, int64_t steps) const;

  /// Brings the value for a step into its argument.
  Error read(size_t argument, int64_t step);
  /// Begins to upload the value for a step, if its argument has one.
  Error upload(size_t argument, int64_t step);

private:
  Error give(size_t argument, const std::string &source, const std::vector<int64_t> &shape,
             GivenValue value);
  /// Copies the row of a step, or the one value, to host memory.
  Error copyRow(size_t argument, int64_t step, void *to) const;

  Executable &executable;
  const Bundle &bundle;
  std::vector<std::optional<GivenValue>> values;
  std::vector<uint8_t> staging; ///< buffer for an argument, without host memory
  InputUploads uploads;
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_GIVENVALUES_H
