// reprise: the page that shows a report, a curve or a schedule
#include "reprise/Page/Page.h"

#include "reprise/Planning/Pipeline/ScheduleFile.h"

namespace reprise {

/// Text of page.html, as CMake embeds it.
static constexpr char kPage[] =
#include "reprise/Page/page.inc"
    ;

void printPage(llvm::raw_ostream &stream, const llvm::json::Value &data) {
  constexpr llvm::StringLiteral empty = "null</script>";
  size_t place = llvm::StringRef(kPage).find(empty);
  stream << llvm::StringRef(kPage).take_front(place);
  std::string text;
  llvm::raw_string_ostream(text) << data;
  // Only strings of JSON have '<'. As an escape it cannot end the element of the data.
  for (char c : text)
    if (c == '<')
      stream << "\\u003c";
    else
      stream << c;
  stream << llvm::StringRef(kPage).drop_front(place + 4);
}

llvm::json::Array listPasses(const pipeline::Schedule &schedule,
                             const pipeline::Simulation &simulation, size_t rank) {
  llvm::json::Array passes;
  for (size_t place = 0; place < schedule.ranks[rank].size(); ++place)
    passes.push_back(llvm::json::Object{
        {"piece", pipeline::spell(schedule.ranks[rank][place], schedule.splitsBackward)},
        {"begin", simulation.begins[rank][place]},
        {"end", simulation.ends[rank][place]}});
  return passes;
}

} // namespace reprise
