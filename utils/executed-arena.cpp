// reprise: a measuring program: the bytes of its arena that a bundle's step touches
//
//   executed-arena BUNDLE [SEED] [NAME=FILE.npy]…
//
// runs the first step twice over painted arenas (Session::executedArenaBytes) and prints the
// highest changed byte + 1, a line for each device program, for comparison with the arena_bytes of
// reprise-compile and reprise-run.
#include "reprise/Runtime/ProgramGroup.h"
#include "reprise/Runtime/Session.h"

#include <cstdio>
#include <cstdlib>

using namespace reprise::runtime;

static Expected<std::vector<uint64_t>> measure(int count, char **words) {
  auto group = ProgramGroup::load(words[1]);
  if (!group)
    return group.error();
  Session session(**group);
  for (int i = 2; i < count; ++i) {
    std::string word = words[i];
    size_t equals = word.find('=');
    bool isSeed = equals == std::string::npos;
    Error error = isSeed ? session.setState({std::strtoll(word.c_str(), nullptr, 10), 0, 0})
                         : session.giveArray(word.substr(0, equals), word.substr(equals + 1));
    if (error)
      return error;
  }
  if (Error error = session.start(1))
    return error;
  return session.executedArenaBytes();
}

int main(int count, char **words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: executed-arena BUNDLE [SEED] [NAME=FILE.npy]...\n");
    return 2;
  }
  Expected<std::vector<uint64_t>> bytes = measure(count, words);
  if (!bytes) {
    std::fprintf(stderr, "executed-arena: error: %s\n", bytes.message().c_str());
    return 1;
  }
  for (uint64_t own : *bytes)
    std::printf("%llu\n", static_cast<unsigned long long>(own));
  return 0;
}
