// reprise: packing problems as MiniMalloc's CSV files
#include "reprise/Planning/Offsets/Csv.h"

#include "reprise/Json/JsonScanner.h"

#include <charconv>
#include <map>
#include <sstream>

namespace reprise::offsets {

static constexpr const char *kHeading = "id,lower,upper,size";

static std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> fields(1);
  for (char c : line)
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

static bool parse(const std::string &field, int64_t &number) {
  const char *end = field.data() + field.size();
  auto [stop, error] = std::from_chars(field.data(), end, number);
  return error == std::errc() && stop == end;
}

/// Times and their differences are numbers of 64 bits.
static constexpr int64_t kLatest = int64_t(1) << 60;

/// Returns the fault of a line, or adds its buffer. `lines` is the line of each id.
static std::string readLine(const std::string &line, int64_t number, Table &table,
                            std::map<std::string, int64_t> &lines) {
  std::vector<std::string> fields = split(line);
  if (fields.size() != 4)
    return "expected 4 fields, " + std::string(kHeading) + ", got " + std::to_string(fields.size());
  int64_t lower = 0, upper = 0, size = 0;
  if (!parse(fields[1], lower) || !parse(fields[2], upper) || !parse(fields[3], size))
    return "expected integers for lower, upper and size";
  if (lower >= upper)
    return "expected lower < upper";
  if (lower < -kLatest || upper > kLatest)
    return "expected times from -2^60 to 2^60";
  if (size < 0)
    return "expected a size of at least 0";
  auto [known, isNew] = lines.insert({fields[0], number});
  if (!isNew)
    return "the id '" + fields[0] + "' is taken by line " + std::to_string(known->second);
  table.names.push_back(fields[0]);
  table.problem.buffers.push_back({lower, upper - 1, size});
  return "";
}

std::string readCsv(const std::string &text, Table &table) {
  table = {};
  table.problem.alignment = 1;
  if (hasByteOrderMark(text))
    return std::string("1: error: ") + kByteOrderMark;
  std::istringstream stream(text);
  std::string line;
  std::map<std::string, int64_t> lines;
  for (int64_t number = 1; std::getline(stream, line); ++number) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    std::string wrong;
    if (number == 1)
      wrong = line == kHeading ? "" : "expected the heading " + std::string(kHeading);
    else if (!line.empty())
      wrong = readLine(line, number, table, lines);
    if (!wrong.empty())
      return std::to_string(number) + ": error: " + wrong;
  }
  return text.empty() ? "1: error: expected the heading " + std::string(kHeading) : "";
}

std::string writeCsv(const Table &table, const Solution &solution) {
  std::ostringstream stream;
  stream << kHeading << ",offset\n";
  for (size_t i = 0; i < table.names.size(); ++i) {
    const Buffer &buffer = table.problem.buffers[i];
    stream << table.names[i] << "," << buffer.first << "," << buffer.last + 1 << "," << buffer.size
           << "," << solution.offsets[i] << "\n";
  }
  return stream.str();
}

} // namespace reprise::offsets
