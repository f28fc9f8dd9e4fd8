// reprise: tests of the common order in which programs exchange values, and of the programs that
// may use it
#include "../../../lib/reprise/Runtime/TransferOrder.h"
#include "../../../lib/reprise/Runtime/NcclTransport.h"
#include "TestBundle.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <random>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

/// Makes a bundle with only the steps of some devices.
Bundle stepsOf(std::vector<std::vector<Command>> commands) {
  Bundle bundle;
  for (uint32_t i = 0; i < commands.size(); ++i) {
    DeviceEntry device;
    device.name = std::to_string(i);
    bundle.devices.push_back(device);
    Program program;
    program.name = "step";
    program.device = i;
    program.commands = std::move(commands[i]);
    bundle.programs.push_back(program);
  }
  return bundle;
}

/// Simulates a library without tags: each device makes its transfers one after the other, in
/// `order`, and a transfer is done when it is the next one on both sides. Returns whether all
/// programs end, and each value arrives at its place.
bool runsInOrder(const Bundle &bundle, const std::vector<std::vector<uint32_t>> &order) {
  struct Device {
    const std::vector<Command> &commands;
    size_t at = 0, done = 0;
    std::vector<const Command *> begun = {};
    std::map<uint32_t, size_t> numbers = {}; ///< number of each event
  };
  std::vector<Device> devices;
  for (const Program &program : bundle.programs)
    devices.push_back({program.commands});
  auto next = [&](size_t i) -> const Command * {
    const Device &own = devices[i];
    bool is = own.done < order[i].size() && order[i][own.done] < own.begun.size();
    return is ? own.begun[order[i][own.done]] : nullptr;
  };
  auto isDone = [&](const Device &own, size_t i, size_t number) {
    auto end = order[i].begin() + long(own.done);
    return std::find(order[i].begin(), end, number) != end;
  };
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (size_t i = 0; i < devices.size(); ++i) {
      Device &own = devices[i];
      while (own.at < own.commands.size()) {
        const Command &command = own.commands[own.at];
        if (isTransfer(command.kind)) {
          own.numbers[command.event] = own.begun.size();
          own.begun.push_back(&command);
        } else if (!isDone(own, i, own.numbers.at(command.event))) {
          break;
        }
        ++own.at;
        hasMoved = true;
      }
      const Command *mine = next(i);
      if (!mine)
        continue;
      size_t peer = std::stoul(mine->peer);
      const Command *others = next(peer);
      if (!others || others->peer != std::to_string(i) || others->kind == mine->kind)
        continue;
      if (others->tag != mine->tag)
        return false;
      ++own.done;
      ++devices[peer].done;
      hasMoved = true;
    }
  }
  return std::all_of(devices.begin(), devices.end(),
                     [](const Device &own) { return own.at == own.commands.size(); });
}

std::vector<std::vector<uint32_t>> asBegun(const Bundle &bundle) {
  std::vector<std::vector<uint32_t>> order;
  for (const Program &program : bundle.programs) {
    size_t count = std::count_if(program.commands.begin(), program.commands.end(),
                                 [](const Command &each) { return isTransfer(each.kind); });
    std::iota(order.emplace_back(count).begin(), order.back().end(), 0);
  }
  return order;
}

TEST(TransferOrder, TagsThatCrossMeet) {
  BufferRef a = arena(0, 8), b = arena(64, 16);
  Bundle bundle = stepsOf({{send(a, "1", 1, 1), send(b, "1", 2, 2), waitFor(1), waitFor(2)},
                           {receive(b, "0", 2, 1), waitFor(1), receive(a, "0", 1, 2), waitFor(2)}});
  EXPECT_EQ(orderTransfers(bundle), (std::vector<std::vector<uint32_t>>{{1, 0}, {0, 1}}));
  EXPECT_FALSE(runsInOrder(bundle, asBegun(bundle)));
  EXPECT_TRUE(runsInOrder(bundle, orderTransfers(bundle)));
}

TEST(TransferOrder, WhatIsReadyFirstGoesFirst) {
  // Device 1 works for long before it accepts the first value that device 0 sends.
  BufferRef a = arena(0, 8), large = arena(64, 4096);
  Bundle bundle = stepsOf({{send(a, "1", 1, 1), send(a, "2", 1, 2), waitFor(1), waitFor(2)},
                           {copy(large, large), receive(a, "0", 1, 1), waitFor(1)},
                           {receive(a, "0", 1, 1), waitFor(1)}});
  EXPECT_EQ(orderTransfers(bundle)[0], (std::vector<uint32_t>{1, 0}));
}

/// Makes transfers of random devices, tags and sizes that can end: a walk begins both sides of each
/// transfer at any time, and waits only for transfers that both sides have begun.
Bundle randomSteps(std::mt19937 &random) {
  auto draw = [&](size_t count) { return size_t(random() % count); };
  size_t devices = 2 + draw(4), transfers = 1 + draw(14);
  struct Half {
    size_t transfer;
    bool isSend;
  };
  struct Each {
    size_t from, to;
    uint32_t tag;
    uint64_t bytes;
    unsigned begun = 0;
  };
  std::vector<Each> all;
  std::vector<std::vector<Half>> open(devices), waiting(devices);
  for (size_t i = 0; i < transfers; ++i) {
    size_t from = draw(devices), to = (from + 1 + draw(devices - 1)) % devices;
    // Sizes of one line are equal, so that its sends meet its receives in any order.
    uint32_t tag = uint32_t(draw(3));
    all.push_back({from, to, tag, 8 * (1 + tag)});
    open[from].push_back({i, true});
    open[to].push_back({i, false});
  }
  std::vector<std::vector<Command>> commands(devices);
  for (size_t left = 4 * transfers; left != 0;) {
    size_t device = draw(devices);
    bool waits = draw(2);
    std::vector<Half> &from = waits ? waiting[device] : open[device];
    if (from.empty())
      continue;
    size_t index = draw(from.size());
    Half half = from[index];
    Each &own = all[half.transfer];
    // The first remaining transfer of a line is matched, so that the intended pairs form.
    for (size_t i = 0; !waits && i < index; ++i) {
      const Each &other = all[from[i].transfer];
      if (other.from == own.from && other.to == own.to && other.tag == own.tag)
        half.transfer = SIZE_MAX;
    }
    if (half.transfer == SIZE_MAX || (waits && own.begun < 2))
      continue;
    from.erase(from.begin() + long(index));
    --left;
    uint32_t event = uint32_t(half.transfer) + 1;
    if (waits) {
      commands[device].push_back(waitFor(event));
      continue;
    }
    ++own.begun;
    std::string peer = std::to_string(half.isSend ? own.to : own.from);
    BufferRef place = arena(64 * half.transfer, own.bytes);
    if (draw(2))
      commands[device].push_back(copy(arena(4096, 64 << draw(8)), arena(65536, 64)));
    commands[device].push_back(half.isSend ? send(place, peer, own.tag, event)
                                           : receive(place, peer, own.tag, event));
    waiting[device].push_back(half);
  }
  return stepsOf(commands);
}

TEST(TransferOrder, RandomProgramsEnd) {
  std::mt19937 random(7);
  unsigned stuckAsBegun = 0;
  for (int i = 0; i < 3000; ++i) {
    Bundle bundle = randomSteps(random);
    auto order = orderTransfers(bundle);
    Bundle transfersOnly = bundle;
    for (Program &program : transfersOnly.programs)
      program.commands.erase(
          std::remove_if(program.commands.begin(), program.commands.end(),
                         [](const Command &each) { return each.kind == CommandKind::Copy; }),
          program.commands.end());
    ASSERT_TRUE(runsInOrder(transfersOnly, order)) << i;
    stuckAsBegun += !runsInOrder(transfersOnly, asBegun(transfersOnly));
  }
  EXPECT_GT(stuckAsBegun, 1000u);
}

TEST(NcclTransport, AllRanksMustBeAbleTo) {
  using nccl::findLack;
  const std::vector<std::string> names = {"first", "second", "third"};
  EXPECT_EQ(findLack(names, {{21803, "a", ""}, {21803, "b", ""}, {21803, "c", ""}}), "");
  EXPECT_EQ(findLack(names, {{21803, "a", ""}, {0, "b", "no file"}, {21803, "c", ""}}),
            "'second' has no NCCL: no file");
  EXPECT_EQ(findLack(names, {{21803, "a", ""}, {21803, "b", ""}, {22304, "c", ""}}),
            "'third' has NCCL 2.23.4, and 'first' has 2.18.3");
  EXPECT_EQ(findLack(names, {{21803, "a", ""}, {21803, "b", ""}, {21803, "a", ""}}),
            "'third' has the same GPU as 'first'");
}

} // namespace
