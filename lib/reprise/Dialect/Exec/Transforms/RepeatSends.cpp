// reprise: sends arguments as often as other programs pull them
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

#include <map>

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_REPEATSENDSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// Sender, receiver and tag.
using Key = std::tuple<StringRef, StringRef, uint64_t>;

/// Other side of the sends of a key.
struct Receivers {
  size_t pulls = 0;
  bool isReceived = false; ///< by `exec.receive`
};

void repeat(SendOp send) {
  OpBuilder builder(send);
  builder.setInsertionPointAfter(send);
  auto copy = cast<SendOp>(builder.clone(*send));
  for (Operation *wait : llvm::to_vector(send.getEvent().getUsers())) {
    builder.setInsertionPointAfter(wait);
    IRMapping mapping;
    mapping.map(send.getEvent(), copy.getEvent());
    builder.clone(*wait, mapping);
  }
}

void erase(SendOp send) {
  for (Operation *wait : llvm::to_vector(send.getEvent().getUsers()))
    wait->erase();
  send.erase();
}

struct RepeatSendsPass : impl::RepeatSendsPassBase<RepeatSendsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ProgramOp> programs = findPrograms(getOperation());
    if (programs.size() == 1)
      return;
    std::map<Key, Receivers> receivers;
    std::map<Key, SmallVector<SendOp>> sends;
    for (ProgramOp program : programs)
      for (Operation &op : program.getBody().front()) {
        StringRef own = program.getName();
        if (auto pull = dyn_cast<PullOp>(op))
          ++receivers[{pull.getPeer(), own, pull.getTag()}].pulls;
        else if (auto receive = dyn_cast<ReceiveOp>(op))
          receivers[{receive.getPeer(), own, receive.getTag()}].isReceived = true;
        else if (auto send = dyn_cast<SendOp>(op))
          sends[{own, send.getPeer(), send.getTag()}].push_back(send);
      }
    for (auto &[key, made] : sends)
      if (Receivers wanted = receivers[key]; !wanted.isReceived)
        match(made, wanted.pulls);
  }

private:
  static void match(SmallVector<SendOp> &made, size_t pulls) {
    for (size_t i = made.size(); i < pulls; ++i)
      repeat(made.back());
    while (made.size() > pulls)
      erase(made.pop_back_val());
  }
};

} // namespace
} // namespace reprise::exec
