// reprise: tests of the bytes of the arena that are live while a command runs
#include "reprise/Runtime/LiveBytes.h"
#include "TestBundle.h"

#include <gtest/gtest.h>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

static std::vector<uint64_t> live(std::vector<Command> commands, std::vector<BufferRef> results) {
  Bundle bundle = emptyBundle();
  Program step;
  step.name = "step";
  step.commands = std::move(commands);
  bundle.programs = {step};
  for (const BufferRef &buffer : results) {
    bundle.results.emplace_back();
    bundle.results.back().buffer = buffer;
  }
  return countLiveBytes(bundle);
}

TEST(LiveBytes, FromWriteToLastRead) {
  BufferRef a = arena(0, 64), b = arena(64, 64), c = arena(0, 32), w = argument(0, 1000);
  EXPECT_EQ(live({command(Half, 1, {w}, {a}), command(Half, 1, {a}, {b}),
                  command(Half, 1, {b}, {c}), command(Half, 1, {w}, {w})},
                 {c}),
            (std::vector<uint64_t>{64, 128, 96, 32}));
}

TEST(LiveBytes, WhatNobodyReadsLivesInItsCommand) {
  EXPECT_EQ(live({command(Half, 1, {}, {arena(0, 8)}), command(Half, 1, {}, {arena(128, 4)})}, {}),
            (std::vector<uint64_t>{8, 4}));
}

TEST(LiveBytes, PartsOfABuffer) {
  // Two halves are written, one is overwritten, and the middle of both is read.
  EXPECT_EQ(live({command(Half, 1, {}, {arena(0, 64)}), command(Half, 1, {}, {arena(64, 64)}),
                  command(Half, 1, {}, {arena(64, 32)}),
                  command(Half, 1, {arena(32, 64)}, {arena(256, 1)})},
                 {}),
            (std::vector<uint64_t>{64, 96, 64, 65}));
}

TEST(LiveBytes, InPlaceIsRead) {
  Command half = command(Half, 1, {arena(0, 64)}, {});
  half.operands[0].access = ReadWrite;
  EXPECT_EQ(live({command(Half, 1, {}, {arena(0, 64)}), half, half}, {arena(0, 64)}),
            (std::vector<uint64_t>{64, 64, 64}));
}

/// A value has left after a wait for its offload, and is live again from the start of its fetch on.
TEST(LiveBytes, MovesToAndFromTheHostLastUntilTheirWaits) {
  auto move = [](CommandKind kind, BufferRef from, BufferRef to, uint32_t event) {
    Command made = copy(from, to);
    made.kind = kind;
    made.event = event;
    return made;
  };
  BufferRef a = arena(0, 64), host;
  host.space = Space::Host;
  host.bytes = 64;
  Command other = command(Half, 1, {}, {arena(128, 4)});
  EXPECT_EQ(live({command(Half, 1, {}, {a}), move(CommandKind::Offload, a, host, 0), other,
                  waitFor(0), other, move(CommandKind::Fetch, host, a, 1), other, waitFor(1)},
                 {a}),
            (std::vector<uint64_t>{64, 64, 68, 64, 4, 64, 68, 64}));
}
