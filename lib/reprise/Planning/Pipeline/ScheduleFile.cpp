// reprise: schedules as files
#include "reprise/Planning/Pipeline/ScheduleFile.h"

#include "reprise/Json/JsonScanner.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

namespace reprise::pipeline {

namespace {

/// Stages, micro-batches and ranks are fewer.
constexpr int32_t kMost = 1 << 24;

class Reader {
public:
  std::string run(std::string_view text, Schedule &schedule) {
    size_t begin = text.find_first_not_of(" \t\r\n");
    if (hasByteOrderMark(text))
      refuse(std::string(kByteOrderMark) + " at line 1, column 1");
    else if (begin != std::string_view::npos && text[begin] == '{')
      readJson(text);
    else
      readCsv(text);
    if (wrong.empty())
      build(schedule);
    return wrong;
  }

private:
  void refuse(const std::string &what) {
    if (wrong.empty())
      wrong = what;
  }
  void readJson(std::string_view text);
  void readCsv(std::string_view text);
  /// Reads a piece; `place` returns its place for errors only, since counting lines takes time.
  void readPiece(std::string_view text, const std::function<std::string()> &place);
  void build(Schedule &schedule);
  void findShape(Shape &shape);

  std::string wrong;
  std::vector<std::vector<Piece>> ranks;
  int32_t stages = 0, microbatches = 0;
  std::optional<bool> splits; // set by the first backward piece
};

/// Quotes a text in place of a piece for an error: on one line, and not too long.
static std::string quote(std::string_view text) {
  constexpr size_t most = 40;
  std::string quoted = "'" + std::string(text.substr(0, most)) + "'";
  for (char &c : quoted)
    c = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  return quoted + (text.size() > most ? "…" : "");
}

void Reader::readPiece(std::string_view text, const std::function<std::string()> &place) {
  const char *at = text.data(), *end = at + text.size();
  Piece piece;
  auto expected = [&] { refuse("expected a piece such as 2F0, got " + quote(text) + place()); };
  auto number = [&](int32_t &read) {
    bool isSigned = at != end && *at == '-'; // minus zero counts, too
    auto [stop, error] = std::from_chars(at, end, read);
    bool isNumber = error == std::errc() && !isSigned && read < kMost;
    at = stop;
    return isNumber;
  };
  if (!number(piece.stage) || at == end)
    return expected();
  char letter = *at++;
  size_t found = std::string_view("FBIW").find(letter);
  if (found == std::string_view::npos || !number(piece.microbatch) || at != end)
    return expected();
  const Pass passes[] = {Pass::Forward, Pass::Backward, Pass::Backward, Pass::Weight};
  piece.pass = passes[found];
  if (letter != 'F') {
    if (splits.value_or(letter != 'B') != (letter != 'B'))
      refuse("expected B for every backward pass, or I and W, got '" + std::string(text) + "'" +
             place());
    splits = letter != 'B';
  }
  stages = std::max(stages, piece.stage + 1);
  microbatches = std::max(microbatches, piece.microbatch + 1);
  ranks.back().push_back(piece);
}

void Reader::readJson(std::string_view text) {
  JsonScanner scanner(text);
  std::optional<int64_t> version;
  bool hasRanks = false;
  scanner.readObject([&](std::string_view key) {
    if (key == "version") {
      version = scanner.readInteger();
    } else if (key == "ranks") {
      hasRanks = scanner.readArray([&] {
        ranks.emplace_back();
        bool isArray = scanner.readArray([&] {
          std::optional<std::string_view> piece = scanner.readString();
          readPiece(piece.value_or(""), [&] { return scanner.place(); });
        });
        if (!isArray)
          refuse("expected an array of pieces" + scanner.place());
      });
    } else if (key == "name" || key == "$schema") {
      scanner.skip();
    } else {
      refuse("unknown member '" + std::string(key) + "'");
      scanner.skip();
    }
  });
  scanner.finish();
  if (!scanner.error().empty())
    wrong = "syntax error: " + scanner.error();
  else if (version != 1)
    refuse("expected 'version' 1");
  else if (!hasRanks)
    refuse("expected 'ranks', an array with an array of pieces per rank");
}

void Reader::readCsv(std::string_view text) {
  int64_t line = 1;
  while (!text.empty() && wrong.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view fields = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.find_first_not_of(" \t\r,") != std::string_view::npos)
      ranks.emplace_back();
    while (!fields.empty()) {
      size_t comma = std::min(fields.find(','), fields.size());
      std::string_view field = fields.substr(0, comma);
      fields.remove_prefix(std::min(comma + 1, fields.size()));
      size_t first = field.find_first_not_of(" \t\r\"");
      if (first == std::string_view::npos)
        continue;
      readPiece(field.substr(first, field.find_last_not_of(" \t\r\"") - first + 1),
                [&] { return " at line " + std::to_string(line); });
    }
    ++line;
  }
}

/// Finds the shape: a loop, unless the first stage of the second chunk has its place in a vee.
void Reader::findShape(Shape &shape) {
  shape.ranks = static_cast<int>(ranks.size());
  shape.chunks = stages / shape.ranks;
  shape.microbatches = microbatches;
  shape.isVee = shape.chunks > 1 && shape.ranks > 1 &&
                std::any_of(ranks.back().begin(), ranks.back().end(),
                            [&](const Piece &piece) { return piece.stage == shape.ranks; });
}

void Reader::build(Schedule &schedule) {
  if (ranks.empty() || stages == 0)
    return refuse("expected at least one piece");
  if (ranks.size() > kMost || stages % ranks.size() != 0)
    return refuse("expected the same number of stages on every rank, got " +
                  std::to_string(stages) + " stages on " + std::to_string(ranks.size()) + " ranks");
  // The limit keeps the memory proportional to the size of the file.
  size_t pieces = 0;
  for (const std::vector<Piece> &row : ranks)
    pieces += row.size();
  if (pieces < static_cast<size_t>(std::max(stages, microbatches)))
    return refuse("there are " + std::to_string(pieces) +
                  " pieces, fewer than stages or micro-batches");
  schedule = {};
  findShape(schedule.shape);
  schedule.splitsBackward = splits.value_or(false);
  schedule.ranks = std::move(ranks);
}

} // namespace

std::string readSchedule(std::string_view text, Schedule &schedule) {
  return Reader().run(text, schedule);
}

std::string spell(const Piece &piece, bool splitsBackward) {
  const char *letters = splitsBackward ? "FIW" : "FB";
  return std::to_string(piece.stage) + letters[static_cast<int>(piece.pass)] +
         std::to_string(piece.microbatch);
}

std::string writeSchedule(const Schedule &schedule) {
  std::string text = "{\"version\": 1,\n \"ranks\": [";
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    text += rank > 0 ? ",\n  [" : "\n  [";
    bool isFirst = true;
    for (const Piece &piece : schedule.ranks[rank]) {
      text += isFirst ? "\"" : ", \"";
      text += spell(piece, schedule.splitsBackward) + "\"";
      isFirst = false;
    }
    text += "]";
  }
  return text + "\n ]}\n";
}

} // namespace reprise::pipeline
