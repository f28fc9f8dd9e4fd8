// reprise: the device programs of a bundle, which run together in this process
#ifndef REPRISE_RUNTIME_PROGRAMGROUP_H
#define REPRISE_RUNTIME_PROGRAMGROUP_H

#include "reprise/Runtime/Executable.h"

namespace reprise::runtime {
class ThreadPool;

/// An executable for each device of a bundle, each with workers and memory of its own. They
/// exchange values from place to place. A bundle of one device is a group of one.
class ProgramGroup {
public:
  /// `threads` workers for each program; 0 takes the bundle's. Errors as of Executable::create, of
  /// the first program that has one.
  static Expected<std::unique_ptr<ProgramGroup>> create(Bundle bundle, const std::string &name,
                                                        unsigned threads = 0);
  /// readBundle and create.
  static Expected<std::unique_ptr<ProgramGroup>> load(const std::string &path,
                                                      unsigned threads = 0);
  ~ProgramGroup();

  /// The whole manifest; constants and images are empty.
  const Bundle &bundle() const { return manifest; }
  const std::string &name() const { return fileName; }
  size_t size() const { return executables.size(); }
  Executable &executable(size_t device) const { return *executables[device]; }
  /// Workers of each program.
  unsigned threads() const { return executables.front()->threads(); }

  /// Calls run(context, i) for each program at once, on a thread for each. The error is that of the
  /// program that failed first; all others then end with errors, too. Allocates nothing, errors
  /// apart.
  Error runAll(Error (*run)(void *, size_t), void *context);

private:
  ProgramGroup() = default;
  Error open(const Bundle &bundle, unsigned threads);
  Error checkMemory() const;
  Error openProgram(const Bundle &bundle, uint32_t device, unsigned threads);

  Bundle manifest;
  std::string fileName;
  std::unique_ptr<Transport> transport;
  std::vector<std::unique_ptr<Executable>> executables;
  std::unique_ptr<ThreadPool> crew; ///< a thread per program
  std::vector<Error> errors;        ///< by program, of the run at hand
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_PROGRAMGROUP_H
