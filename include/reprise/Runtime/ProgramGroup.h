// reprise: the device programs of a bundle, which run together
#ifndef REPRISE_RUNTIME_PROGRAMGROUP_H
#define REPRISE_RUNTIME_PROGRAMGROUP_H

#include "reprise/Runtime/Executable.h"
#include "reprise/Runtime/Ranks.h"

namespace reprise::runtime {
class ThreadPool;

/// An executable for each device of a bundle, each with workers and memory of its own. They
/// exchange values from place to place. A bundle of one device is a group of one. Of several
/// processes each has the program of its rank, and the group holds that one alone.
class ProgramGroup {
public:
  /// `threads` workers, which the programs of this process share; each has one at least. 0 takes
  /// the bundle's. Errors as of Executable::create, of
  /// the first program that has one. The ranks outlive the group, and are as many as the programs.
  static Expected<std::unique_ptr<ProgramGroup>> create(Bundle bundle, const std::string &name,
                                                        unsigned threads = 0,
                                                        Ranks *ranks = nullptr,
                                                        DeviceKind kind = DeviceKind::Cpu);
  /// readBundle and create.
  static Expected<std::unique_ptr<ProgramGroup>> load(const std::string &path,
                                                      unsigned threads = 0);
  ~ProgramGroup();

  /// The whole manifest; constants and images are empty.
  const Bundle &bundle() const { return manifest; }
  const std::string &name() const { return fileName; }
  /// Of the programs in this process.
  size_t size() const { return executables.size(); }
  /// The processes that the other programs are in, or null.
  Ranks *ranks() const { return processes; }
  /// What carries values between them, for people; empty where there is no choice.
  std::string describeTransport() const { return transport ? transport->description() : ""; }
  /// The number of the device of a program.
  uint32_t device(size_t program) const {
    return processes ? processes->rank() : uint32_t(program);
  }
  Executable &executable(size_t program) const { return *executables[program]; }
  /// Workers of the first program. No other one has more.
  unsigned threads() const { return executables.front()->device().workers(); }
  /// Workers of all programs in this process.
  unsigned allThreads() const;
  /// Lines for the user about devices and the algorithms of library calls, each given once.
  std::vector<std::string> takeNotes() const;

  /// Calls run(context, i) for each program at once, on a thread for each. The error is that of the
  /// program that failed first; all others then end with errors, too. Allocates nothing, errors
  /// apart.
  Error runAll(Error (*run)(void *, size_t), void *context);

private:
  ProgramGroup() = default;
  Error checkRanks(const Bundle &bundle) const;
  Error openOnly(Bundle bundle, unsigned threads);
  Error open(const Bundle &bundle, unsigned threads);
  Error checkMemory() const;
  Error readTuning();
  Error writeTuning();
  /// On the GPU of that number, where it is one.
  Error openProgram(const Bundle &bundle, uint32_t device, uint32_t number, unsigned threads);

  Bundle manifest;
  std::vector<std::string> hosts; ///< the machine of each process, where there are several
  std::string fileName;
  std::shared_ptr<Tuning> tuning; ///< of all devices
  Ranks *processes = nullptr;
  DeviceKind kind = DeviceKind::Cpu;
  std::unique_ptr<Transport> transport;
  std::vector<std::unique_ptr<Executable>> executables;
  std::unique_ptr<ThreadPool> crew; ///< a thread per program
  std::vector<Error> errors;        ///< by program, of the run at hand
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_PROGRAMGROUP_H
