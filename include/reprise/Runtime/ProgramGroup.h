// reprise: the device programs of a bundle that run together
#ifndef REPRISE_RUNTIME_PROGRAMGROUP_H
#define REPRISE_RUNTIME_PROGRAMGROUP_H

#include "reprise/Runtime/Executable.h"
#include "reprise/Runtime/Ranks.h"

namespace reprise::runtime {
class ThreadPool;

/// Executables of all devices of a bundle, each with its own workers and memory. They exchange
/// values directly between their buffers. A bundle of one device makes a group of one. In a run of
/// several processes, each process has the program of its rank, and its group holds only that
/// program.
class ProgramGroup {
public:
  /// Creates the executables. The programs of this process share `threads` workers, at least one
  /// each; 0 uses the bundle's number. Fails with the first error of Executable::create, in program
  /// order. The ranks outlive the group, and are as many as the programs.
  static Expected<std::unique_ptr<ProgramGroup>> create(Bundle bundle, const std::string &name,
                                                        unsigned threads = 0,
                                                        Ranks *ranks = nullptr,
                                                        const DevicePlace &place = {});
  /// Reads the bundle of `path` and creates its group.
  static Expected<std::unique_ptr<ProgramGroup>> load(const std::string &path,
                                                      unsigned threads = 0);
  ~ProgramGroup();

  /// Returns the whole manifest, without constants and images.
  const Bundle &bundle() const { return manifest; }
  const std::string &name() const { return fileName; }
  /// Returns the number of programs in this process.
  size_t size() const { return executables.size(); }
  /// Returns the processes of the other programs, or null.
  Ranks *ranks() const { return processes; }
  /// Describes the transport between programs, for people; empty if only one transport is possible.
  std::string describeTransport() const { return transport ? transport->description() : ""; }
  /// Returns the device number of a program.
  uint32_t device(size_t program) const {
    return processes ? processes->rank() : uint32_t(program);
  }
  Executable &executable(size_t program) const { return *executables[program]; }
  /// Returns the workers of the first program, the largest number of all programs.
  unsigned threads() const { return executables.front()->device().workers(); }
  /// Returns the workers of all programs in this process.
  unsigned allThreads() const;
  /// Returns lines for the user about devices and the algorithms of library calls, each line once.
  std::vector<std::string> takeNotes() const;

  /// Calls run(context, i) for all programs at once, each on its own thread. Returns the error of
  /// the program that failed first; all other programs then end with errors too. Allocates memory
  /// only for errors.
  Error runAll(Error (*run)(void *, size_t), void *context);

private:
  ProgramGroup() = default;
  Error checkRanks(const Bundle &bundle) const;
  Error openOnly(Bundle bundle, unsigned threads);
  Error open(const Bundle &bundle, unsigned threads);
  Error checkMemory() const;
  Error readTuning();
  Error writeTuning();
  /// Opens one program. `number` is the number of its GPU, if it runs on a GPU.
  Error openProgram(const Bundle &bundle, uint32_t device, uint32_t number, unsigned threads);

  Bundle manifest;
  std::vector<std::string> hosts; ///< machine of each process, if there are several
  std::string fileName;
  std::shared_ptr<Tuning> tuning; ///< algorithms of all devices
  Ranks *processes = nullptr;
  DevicePlace place;
  std::unique_ptr<Transport> transport;
  std::vector<std::unique_ptr<Executable>> executables;
  std::unique_ptr<ThreadPool> crew; ///< one thread per program
  std::vector<Error> errors;        ///< errors of the current run, per program
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_PROGRAMGROUP_H
