// reprise: one run of a bundle, compared with the interpreter
#include "Run.h"

#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Runtime/Hash.h"
#include "reprise/Runtime/Session.h"

namespace reprise::fuzz {

std::string Outcome::text() const {
  return runtime::hashText(hash) + ", next offset " + std::to_string(offset);
}

/// Empty if the arena is as predicted.
static runtime::Expected<std::string> compareArena(runtime::Session &session,
                                                   const runtime::Bundle &bundle) {
  runtime::Expected<std::vector<uint64_t>> arena = session.executedArenaBytes();
  if (!arena)
    return arena.error();
  for (uint32_t device = 0; device < arena->size(); ++device)
    if ((*arena)[device] != bundle.arenaBytes(device))
      return "predicted " + std::to_string(bundle.arenaBytes(device)) + ", executed " +
             std::to_string((*arena)[device]);
  return std::string();
}

static runtime::Error start(runtime::Session &session, const RunOptions &options) {
  if (runtime::Error error = session.setState({options.seed, 0, 0}))
    return error;
  for (const auto &[name, value] : options.values)
    if (runtime::Error error = session.giveValue({name, dtypeOf(value.type.getElementType()),
                                                  value.type.getShape().vec(), value.bytes.data()}))
      return error;
  return session.start(options.steps);
}

Failure runBundle(const runtime::Bundle &bundle, const RunOptions &options,
                  const Outcome &expected) {
  std::string place = options.name + " at " + std::to_string(options.threads) + " threads: ";
  auto group =
      runtime::ProgramGroup::create(bundle, options.name, options.threads, nullptr, options.device);
  if (!group)
    return {"run", place + group.message()};
  runtime::Session session(**group);
  runtime::Error error = start(session, options);
  if (!error && options.checkArena) {
    runtime::Expected<std::string> difference = compareArena(session, bundle);
    if (!difference)
      error = difference.error();
    else if (!difference->empty())
      return {"arena", place + *difference};
  }
  for (int64_t step = 0; step < options.steps && !error; ++step)
    error = session.step();
  if (error)
    return {"run", place + error.message()};
  Outcome outcome = {runtime::hashArrays(session.results()), session.state().offset};
  std::string both = place + outcome.text() + ", interpreter " + expected.text();
  if (outcome.hash != expected.hash)
    return {"mismatch", both};
  return outcome.offset == expected.offset ? Failure() : Failure{"offset", both};
}

const std::vector<std::string> &runnableTargets() {
  static const std::vector<std::string> targets = [] {
    std::vector<std::string> names;
    for (const char *level : {"x86-64-v3", "x86-64-v4"})
      if (llvm::Expected<CpuTarget> target = CpuTarget::get(level); !target)
        llvm::consumeError(target.takeError());
      else if (target->runsHere())
        names.push_back(std::string("cpu:") + level);
    return names;
  }();
  return targets;
}

} // namespace reprise::fuzz
