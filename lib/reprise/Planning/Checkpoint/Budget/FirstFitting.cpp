// reprise: orders in which the first launch that fits runs next
#include "FirstFitting.h"

#include <algorithm>

using namespace reprise::checkpoint;

FirstFitting::FirstFitting(const Problem &problem, const Footprint &footprint,
                           const LaunchLinks &links, const Schedule &schedule)
    : problem(problem), footprint(footprint), links(links), schedule(schedule),
      nodes(footprint.numLaunches) {
  for (int launch = 0; launch < footprint.numLaunches; ++launch)
    for (int next : links.next[launch])
      addEdge(launch, next);
  findPlaces();
  std::vector<int64_t> own(nodes.size()), apart(nodes.size());
  for (size_t run = 0; run < schedule.runs.size(); ++run) {
    addResults(run);
    if (launchOf(run) == kNoLaunch) {
      addViewReaders(run);
      continue;
    }
    addReads(run);
    // Of replays, each step has the place to itself.
    int64_t scratch = footprint.scratchOf(schedule.runs[run].operation);
    int64_t &most = isOwn(run) ? own[at[run]] : apart[at[run]];
    most = isOwn(run) ? most + scratch : std::max(most, scratch);
  }
  for (size_t launch = 0; launch < nodes.size(); ++launch)
    nodes[launch].scratch = std::max(own[launch], apart[launch]);
  addNeighbours();
}

bool FirstFitting::isOwn(size_t run) const {
  return schedule.runs[run].replay == 0 && launchOf(run) != kNoLaunch;
}

void FirstFitting::addEdge(int from, int to) {
  if (from != to && nodes[from].next.insert(to).second)
    ++nodes[to].numWaitsFor;
}

/// From the last run to the first, so that readers come before what they read.
void FirstFitting::findPlaces() {
  at.assign(schedule.runs.size(), footprint.numLaunches - 1);
  inside.assign(schedule.runs.size(), kUnread);
  for (size_t run = schedule.runs.size(); run-- > 0;) {
    bool isFree = launchOf(run) == kNoLaunch, isElementwise = op(run).kind == Kind::Elementwise;
    bool fromRegisters = isFree || isElementwise || op(run).kind == Kind::Reduction;
    if (isOwn(run))
      at[run] = launchOf(run);
    int home = isOwn(run) ? launchOf(run) : isFree || isElementwise ? inside[run] : kApart;
    for (size_t i = 0; i < op(run).operands.size(); ++i) {
      int source = sourceOf(run, i);
      if (source < 0)
        continue;
      at[source] = std::min(at[source], at[run]);
      if (home == kUnread)
        continue;
      bool isOne =
          fromRegisters && home != kApart && (inside[source] == kUnread || inside[source] == home);
      inside[source] = isOne ? home : kApart;
    }
  }
}

void FirstFitting::addResults(size_t run) {
  const Problem::Operation &made = op(run);
  buffersOf.emplace_back(made.numResults, -1);
  bool joins = made.kind == Kind::Elementwise && inside[run] >= 0;
  if (launchOf(run) == kNoLaunch || (!isOwn(run) && joins))
    return;
  for (int result = 0; result < made.numResults; ++result) {
    int value = made.firstResult + result;
    if (isOwn(run) && !footprint.isStored[value])
      continue;
    auto buffer = static_cast<int>(buffers.size());
    buffersOf[run][result] = buffer;
    makers.push_back(at[run]);
    nodes[at[run]].makes.push_back(buffer);
    buffers.push_back(
        {problem.values[value].bytes, footprint.storesUnread(schedule.runs[run].operation)});
    for (int reader : isOwn(run) ? links.outside[value] : std::vector<int>())
      addReader(buffer, reader);
  }
}

/// What its own launch reads of an original is in registers.
void FirstFitting::addReader(size_t buffer, int launch) {
  if (launch == footprint.numLaunches) {
    ++buffers[buffer].numReaders;
    return;
  }
  if (launch > makers[buffer] && nodes[launch].reads.insert(buffer).second) {
    ++buffers[buffer].numReaders;
    addEdge(makers[buffer], launch);
  }
}

/// What reads a view reads the buffer behind it.
void FirstFitting::addViewReaders(size_t run) {
  int buffer = op(run).operands.empty() ? -1 : findBuffer(run, 0);
  for (int result = 0; buffer >= 0 && result < op(run).numResults; ++result)
    for (int reader : links.outside[op(run).firstResult + result])
      addReader(buffer, reader);
}

/// Behind views; -1 for what is in registers or there in any case.
int FirstFitting::findBuffer(size_t run, size_t operand) const {
  int source = sourceOf(run, operand), value = op(run).operands[operand];
  while (source >= 0 && launchOf(source) == kNoLaunch) {
    bool hasOperand = !op(source).operands.empty();
    value = hasOperand ? op(source).operands[0] : kAvailable;
    source = hasOperand ? sourceOf(source, 0) : -1;
  }
  return source < 0 ? -1 : buffersOf[source][value - op(source).firstResult];
}

void FirstFitting::addReads(size_t run) {
  bool takesPlaces = footprint.takesPlaces(problem, schedule.runs[run].operation);
  for (size_t i = 0; i < op(run).operands.size(); ++i) {
    int read = findBuffer(run, i);
    if (read < 0)
      continue;
    addReader(read, at[run]);
    for (int made : buffersOf[run])
      if (takesPlaces && made >= 0 && makers[read] != at[run] &&
          buffers[made].bytes == buffers[read].bytes)
        nodes[at[run]].inPlace.push_back({made, read});
  }
}

void FirstFitting::addNeighbours() {
  for (size_t i = 0; i < footprint.neighbours.size(); ++i) {
    const Neighbour &other = footprint.neighbours[i];
    if (other.last <= other.first) {
      nodes[other.first].scratch += other.bytes;
      continue;
    }
    size_t buffer = buffers.size();
    makers.push_back(other.first);
    nodes[other.first].makes.push_back(buffer);
    buffers.push_back({other.bytes});
    for (int reader : links.neighbourReaders[i])
      addReader(buffer, reader);
  }
}

/// The bytes that a launch needs beside those that live before it.
int64_t FirstFitting::findGrowth(const Node &node, const State &state) const {
  int64_t growth = node.scratch;
  std::set<size_t> taken;
  for (size_t made : node.makes) {
    if (buffers[made].numReaders == 0) {
      growth += buffers[made].isStoredUnread ? buffers[made].bytes : 0;
      continue;
    }
    auto shared = std::find_if(node.inPlace.begin(), node.inPlace.end(), [&](const auto &pair) {
      return pair.first == made && state.readersLeft[pair.second] == 1 && !taken.count(pair.second);
    });
    if (shared == node.inPlace.end())
      growth += buffers[made].bytes;
    else
      taken.insert(shared->second);
  }
  return growth;
}

void FirstFitting::carryOut(const Node &node, State &state) const {
  for (size_t made : node.makes)
    if (buffers[made].numReaders > 0)
      state.live += buffers[made].bytes;
  for (size_t read : node.reads)
    if (--state.readersLeft[read] == 0)
      state.live -= buffers[read].bytes;
}

LaunchOrder FirstFitting::find(int64_t most) const {
  State state;
  for (const Buffer &buffer : buffers)
    state.readersLeft.push_back(buffer.numReaders);
  LaunchOrder order;
  std::vector<int> waitsFor;
  std::set<int> ready;
  for (const Node &node : nodes) {
    if (node.numWaitsFor == 0)
      ready.insert(static_cast<int>(waitsFor.size()));
    waitsFor.push_back(node.numWaitsFor);
  }
  while (!ready.empty()) {
    auto found = std::find_if(ready.begin(), ready.end(), [&](int launch) {
      return state.live + findGrowth(nodes[launch], state) <= most;
    });
    if (found == ready.end())
      return {};
    const Node &node = nodes[*found];
    order.push_back(*found);
    ready.erase(found);
    carryOut(node, state);
    for (int next : node.next)
      if (--waitsFor[next] == 0)
        ready.insert(next);
  }
  return order;
}
