// reprise: streams that are captured become a graph, which is replayed on streams of its own
#include "Streams.h"

#include <algorithm>

using namespace reprise::emulator;

void Scheduler::addToCapture(Stream &stream, GraphCommand command) {
  Capture &capture = *stream.capture;
  Clock &clock = capture.clocks[stream.captureIndex];
  command.stream = stream.captureIndex;
  if (command.kind == GraphCommand::Kind::Wait)
    join(clock, capture.eventClocks[command.event]);
  if (clock.size() <= command.stream)
    clock.resize(command.stream + 1);
  clock[command.stream] += command.kind == GraphCommand::Kind::Work;
  if (command.kind == GraphCommand::Kind::Record) {
    capture.eventClocks.push_back(clock);
    ++capture.graph.events;
  }
  capture.graph.commands.push_back(std::move(command));
}

Capture *Scheduler::beginCapture(Stream &stream) {
  captures.push_back(std::make_unique<Capture>());
  Capture *made = captures.back().get();
  made->streams = {&stream};
  made->clocks.resize(1);
  stream.capture = made;
  stream.captureIndex = 0;
  return made;
}

std::unique_ptr<Graph> Scheduler::endCapture(Stream &stream) {
  Capture &capture = *stream.capture;
  const Clock &end = capture.clocks[0];
  bool joined = true;
  for (size_t i = 1; i < capture.streams.size(); ++i) {
    uint64_t own = i < capture.clocks[i].size() ? capture.clocks[i][i] : 0;
    joined &= own <= (i < end.size() ? end[i] : 0);
  }
  for (Stream *member : capture.streams)
    member->capture = nullptr;
  auto graph = std::make_unique<Graph>(std::move(capture.graph));
  graph->streams = capture.streams.size();
  return joined ? std::move(graph) : nullptr;
}

bool Scheduler::capturing(int device) const {
  return std::any_of(streams.begin(), streams.end(), [&](const auto &stream) {
    return stream && stream->capture && stream->device == device;
  });
}

/// Launches a graph. Its first stream is the stream of the launch. A graph does not run beside
/// itself.
void Scheduler::launch(GraphExec &exec, Stream &stream) {
  while (exec.others.size() + 1 < exec.graph.streams)
    exec.others.push_back(create(stream.device, false));
  if (exec.last) {
    join(stream.clock, exec.last->clock);
    add(stream, {})->needs.push_back(exec.last);
  }
  std::vector<Event> events(exec.graph.events);
  for (const GraphCommand &command : exec.graph.commands) {
    Stream &to = command.stream ? *exec.others[command.stream - 1] : stream;
    if (command.kind == GraphCommand::Kind::Work)
      add(to, command.work);
    else if (command.kind == GraphCommand::Kind::Record)
      events[command.event].piece = add(to, {});
    else
      wait(to, events[command.event]);
  }
  exec.last = add(stream, {});
}
