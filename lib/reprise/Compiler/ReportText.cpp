// reprise: the report as plain text
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

void printText(raw_ostream &stream, const Object &report) {
  for (StringRef key : {"arena_bytes", "persistent_bytes", "workspace_bytes", "saved_bytes",
                        "replayed_ops", "commands"})
    stream << formatv("{0,-18}{1,16}\n", key, report.getInteger(key).value_or(0));
  if (int64_t checks = report.getInteger("replay_checks").value_or(0))
    stream << formatv(
        "{0,-18}{1,16}  both live to the end of the step: the arena is larger for it\n",
        "replay_checks", checks);
  std::vector<const Object *> rows = valuesByBytes(report);
  if (rows.empty())
    return;
  stream << formatv("\n{0,14}  {1,-12}  {2,-18}  {3,-16}  value\n", "bytes", "decision", "label",
                    "reason");
  for (const Object *row : rows)
    stream << formatv("{0,14}  {1,-12}  {2,-18}  {3,-16}  {4}\n",
                      row->getInteger("bytes").value_or(0), row->getString("decision").value_or(""),
                      row->getString("label").value_or(""), row->getString("reason").value_or(""),
                      row->getString("id").value_or(""));
}

} // namespace reprise
