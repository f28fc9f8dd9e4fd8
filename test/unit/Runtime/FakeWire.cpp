// reprise: a wire between threads of a test, which can lose messages
#include "FakeWire.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

Error FakeWire::start(Transfer &transfer) {
  std::lock_guard<std::mutex> guard(net.lock);
  transfer.request = 0;
  if (transfer.isSend && net.sendsUntilLoss-- == 0) {
    transfer.request = 1;
    return Error::success();
  }
  auto meets = [&](const FakeNet::Side &other) {
    return other.rank == transfer.peer && other.transfer->peer == own &&
           other.transfer->tag == transfer.tag && other.transfer->isSend != transfer.isSend;
  };
  auto found = std::find_if(net.open.begin(), net.open.end(), meets);
  if (found == net.open.end()) {
    net.open.push_back({own, &transfer});
    return Error::success();
  }
  Transfer &other = *found->transfer;
  net.open.erase(found);
  Transfer &from = transfer.isSend ? transfer : other, &to = transfer.isSend ? other : transfer;
  std::memcpy(to.data, from.data, from.bytes);
  from.request = to.request = 1;
  return Error::success();
}

Expected<bool> FakeWire::test(Transfer &transfer) {
  std::lock_guard<std::mutex> guard(net.lock);
  return transfer.request != 0;
}

void FakeWire::drop(Transfer &transfer) {
  std::lock_guard<std::mutex> guard(net.lock);
  auto isIt = [&](const FakeNet::Side &side) { return side.transfer == &transfer; };
  net.open.erase(std::remove_if(net.open.begin(), net.open.end(), isIt), net.open.end());
}

Error FakeWire::tell(uint32_t rank, const std::string &text) {
  std::lock_guard<std::mutex> guard(net.lock);
  net.texts.push_back({rank, {own, text}});
  return Error::success();
}

std::optional<Wire::Message> FakeWire::hear() {
  std::lock_guard<std::mutex> guard(net.lock);
  auto isOwn = [&](const auto &text) { return text.first == own; };
  auto found = std::find_if(net.texts.begin(), net.texts.end(), isOwn);
  if (found == net.texts.end())
    return std::nullopt;
  Message message = std::move(found->second);
  net.texts.erase(found);
  return message;
}

void FakeWire::abort(int) { std::abort(); }

void reprise::runtime::test::runRanks(FakeNet &net, const std::function<void(Ranks &)> &run) {
  Patience patience;
  patience.round = std::chrono::milliseconds(10);
  patience.rounds = 3;
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < net.size; ++rank)
    threads.emplace_back([&, rank] {
      Ranks ranks(std::make_unique<FakeWire>(net, rank), patience);
      run(ranks);
    });
  for (std::thread &thread : threads)
    thread.join();
}
