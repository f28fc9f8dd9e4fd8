// reprise: the pieces of every rank over time, as a trace
#include "reprise/Planning/Pipeline/Trace.h"

#include <cstdio>

namespace reprise::pipeline {

static const char *const kPasses[] = {"forward", "backward", "weight"};

template <typename... Values> static std::string format(const char *pattern, Values... values) {
  char text[400];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

std::string writeTrace(const Schedule &schedule, const Simulation &simulation) {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{\"name\": "
                     "\"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": {\"name\": "
                     "\"pipeline\"}}";
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    text += format(",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": %zu, "
                   "\"args\": {\"name\": \"rank %zu\"}}",
                   rank, rank);
    for (size_t place = 0; place < schedule.ranks[rank].size(); ++place) {
      const Piece &piece = schedule.ranks[rank][place];
      double begin = simulation.begins[rank][place], end = simulation.ends[rank][place];
      text += format(",\n{\"name\": \"%s %d\", \"cat\": \"stage %d\", \"ph\": \"X\", \"pid\": 0, "
                     "\"tid\": %zu, \"ts\": %.3f, \"dur\": %.3f}",
                     kPasses[static_cast<int>(piece.pass)], piece.microbatch, piece.stage, rank,
                     1e6 * begin, 1e6 * (end - begin));
    }
  }
  return text + "\n]}\n";
}

} // namespace reprise::pipeline
