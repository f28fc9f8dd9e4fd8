// reprise: pipelines for tests
#ifndef REPRISE_TEST_UNIT_PLANNING_PIPELINE_MAKEPIPELINE_H
#define REPRISE_TEST_UNIT_PLANNING_PIPELINE_MAKEPIPELINE_H

#include "reprise/Planning/Pipeline/Problem.h"

namespace reprise::pipeline {

/// Makes equal stages in a chain, without transfer times. A whole rank takes one second per pass,
/// and saves `saved` bytes until the gradients of its weights are computed.
inline Pipeline makeEqual(const Shape &shape, int64_t saved = 12) {
  Pipeline made;
  double seconds = 1.0 / shape.chunks;
  Stage stage;
  stage.forward = stage.backward = stage.weight = seconds;
  stage.savedForWeight = saved / shape.chunks;
  made.stages.assign(shape.stages(), stage);
  for (int next = 1; next < shape.stages(); ++next)
    made.transfers.push_back({next - 1, next, 0, 0});
  return made;
}

/// Returns the shapes that a rule accepts, of up to `ranks` ranks and `microbatches` micro-batches.
inline std::vector<Shape> listShapes(const Rule &rule, int ranks, int64_t microbatches) {
  std::vector<Shape> shapes;
  int most = rule.mostChunks > 0 ? rule.mostChunks : 4;
  for (int rank = 1; rank <= ranks; ++rank)
    for (int chunks = rule.leastChunks; chunks <= most; ++chunks)
      for (int64_t count = 1; count <= microbatches; ++count)
        shapes.push_back({rank, chunks, count, rule.isVee});
  return shapes;
}

} // namespace reprise::pipeline

#endif // REPRISE_TEST_UNIT_PLANNING_PIPELINE_MAKEPIPELINE_H
