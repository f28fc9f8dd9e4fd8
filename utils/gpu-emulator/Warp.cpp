// reprise: a warp steps the lanes with the lowest program counter
#include "Machine.h"

using namespace reprise::emulator;

namespace {

constexpr uint32_t nobodyWaits = ~0u;

} // namespace

bool Warp::failed() const { return block->launch->failed.load(std::memory_order_relaxed); }

/// Activates the lanes of the lowest program counter among those that do not wait.
void Warp::regroup() {
  uint32_t lowest = nobodyWaits, ready = live & ~waiting;
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (ready >> lane & 1)
      lowest = std::min(lowest, lanePc[lane]);
  active = 0;
  limit = nobodyWaits;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!(ready >> lane & 1))
      continue;
    if (lanePc[lane] == lowest)
      active |= 1u << lane;
    else
      limit = std::min(limit, lanePc[lane]);
  }
  pc = lowest;
}

/// Chooses lanes when the active lanes reach waiting lanes, or must stop. Returns false to leave.
bool Warp::choose() {
  if (failed())
    return false;
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (active >> lane & 1)
      lanePc[lane] = pc;
  if (!live)
    state = WarpState::Done;
  if (state != WarpState::Ready || (waiting == live && !retry()))
    return false;
  regroup();
  return true;
}

/// Continues lanes that have met when all lanes wait. If that happens twice in a row, none can ever
/// continue.
bool Warp::retry() {
  if (isRetry) {
    pc = lack.pc;
    fail(Fault::Divergence, lack.lane, lack.text);
    return false;
  }
  isRetry = true;
  waiting = awaited = 0;
  return true;
}

void Warp::run() {
  const Inst *code = program->code.data();
  state = WarpState::Ready;
  regroup();
  uint64_t steps = 0;
  do {
    do {
      const Inst &inst = code[pc];
      mask = active;
      next = pc + 1;
      if (inst.guard != noGuard)
        mask &= inst.guardNegated ? ~predicate(inst.guard) : predicate(inst.guard);
      if (mask) {
        inst.run(*this, inst);
        steps += __builtin_popcount(mask);
      }
      pc = next;
    } while (pc < limit);
  } while (choose());
  laneSteps += steps;
}

void Warp::branch(uint32_t target) {
  if (mask == active) {
    next = target;
    return;
  }
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (active >> lane & 1)
      lanePc[lane] = mask >> lane & 1 ? target : pc + 1;
  active = 0;
  stop();
}

void Warp::exitLanes() {
  if (mask & awaited) {
    pc = lack.pc;
    return fail(Fault::Divergence, lack.lane, lack.text);
  }
  live &= ~mask;
  active &= ~mask;
  if (!active)
    stop();
}

void Warp::waitAtBarrier(uint32_t id, uint32_t warps) {
  if (!haveLanes(live, "a barrier that some lanes of the warp have not reached"))
    return;
  state = WarpState::AtBarrier;
  barrier = id;
  barrierWarps = warps;
  stop();
}

bool Warp::haveLanes(uint32_t named, const char *text) {
  uint32_t missing = named & ~mask;
  // Lanes whose guard is false continue.
  if (!missing || mask != active)
    isRetry = false;
  if (!missing)
    return true;
  if (!waiting)
    lack = {pc, uint32_t(__builtin_ctz(missing)), text};
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (active >> lane & 1)
      lanePc[lane] = mask >> lane & 1 ? pc : pc + 1;
  waiting |= mask;
  awaited |= missing;
  active = 0;
  stop();
  return false;
}

void Warp::fail(Fault fault, unsigned lane, const std::string &text) {
  const Launch &launch = *block->launch;
  uint32_t thread = number * lanes + lane;
  Dim dim = launch.block;
  char place[200];
  std::snprintf(place, sizeof place, " (block %u, %u, %u, thread %u, %u, %u)", block->index.x,
                block->index.y, block->index.z, thread % dim.x, thread / dim.x % dim.y,
                thread / dim.x / dim.y);
  block->launch->fail(fault, "kernel " + program->name + ": line " +
                                 std::to_string(program->code[pc].line) + ": " + faultName(fault) +
                                 (text.empty() ? "" : ": " + text) + place);
  stop();
}
