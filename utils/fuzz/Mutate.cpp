// reprise: random changes of files
#include "Mutate.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace reprise::fuzz {

/// Numbers at which readers of numbers change their mind.
static const char *const kNumbers[] = {"0",
                                       "-1",
                                       "1",
                                       "2",
                                       "7",
                                       "255",
                                       "4096",
                                       "1000000",
                                       "2147483648",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "18446744073709551616",
                                       "1e30",
                                       "1e308",
                                       "1e400",
                                       "-1e308",
                                       "1e-320",
                                       "0.5",
                                       "nan",
                                       "inf",
                                       "0x10",
                                       "?",
                                       "\"\"",
                                       "null",
                                       "[]",
                                       "{}",
                                       "true"};

/// Returns a place from 0 to `size`, which may be its end.
static size_t drawPlace(size_t size, SplitMix &chance) {
  return chance.below(static_cast<int>(size) + 1);
}

static void changeBytes(std::string &data, SplitMix &chance) {
  constexpr unsigned char kBytes[] = {0, 1, 127, 128, 255};
  for (int count = 1 + chance.below(4); count > 0 && !data.empty(); --count) {
    char &byte = data[chance.below(static_cast<int>(data.size()))];
    int way = chance.below(4);
    if (way == 0)
      byte = static_cast<char>(kBytes[chance.below(5)]);
    else if (way == 1)
      byte = static_cast<char>(byte + (chance.below(2) ? 1 : -1));
    else if (way == 2)
      byte = static_cast<char>(byte ^ (1 << chance.below(8)));
    else
      byte = static_cast<char>(chance.below(256));
  }
}

/// Writes an extreme little-endian integer of 1, 2, 4 or 8 bytes over the data.
static void changeInteger(std::string &data, SplitMix &chance) {
  constexpr uint64_t kIntegers[] = {0,
                                    1,
                                    0x7f,
                                    0x80,
                                    0xffff,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x7fffffffffffffff,
                                    ~uint64_t(0),
                                    uint64_t(1) << 40,
                                    64};
  size_t bytes = size_t(1) << chance.below(4);
  if (data.size() < bytes)
    return;
  uint64_t value = kIntegers[chance.below(12)];
  std::memcpy(&data[drawPlace(data.size() - bytes, chance)], &value, bytes);
}

/// Removes, keeps or repeats a range of bytes.
static void cut(std::string &data, SplitMix &chance) {
  size_t a = drawPlace(data.size(), chance), b = drawPlace(data.size(), chance);
  auto [begin, end] = std::minmax(a, b);
  int way = chance.below(5);
  if (way == 0)
    data.resize(begin);
  else if (way == 1)
    data.erase(begin, end - begin);
  else if (way == 2)
    data.erase(begin, std::min<size_t>(end - begin, 1 + chance.below(16)));
  else
    data.insert(drawPlace(data.size(), chance),
                data.substr(begin, std::min<size_t>(end - begin, way == 3 ? 64 : 4096)));
}

/// Puts a range of another file of the kind in place of a range.
static void takeFrom(std::string &data, const std::string &other, SplitMix &chance) {
  size_t from = drawPlace(other.size(), chance), to = drawPlace(data.size(), chance);
  size_t count = std::min<size_t>(other.size() - from, 1 + chance.below(256));
  data.replace(to, std::min<size_t>(data.size() - to, chance.below(2) ? count : 0),
               other.substr(from, count));
}

static std::vector<std::string> split(const std::string &data, bool (*joins)(char, char)) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < data.size(); ++i) {
    if (i == 0 || !joins(data[i - 1], data[i]))
      parts.emplace_back();
    parts.back() += data[i];
  }
  return parts;
}

static std::string join(const std::vector<std::string> &parts) {
  std::string data;
  for (const std::string &part : parts)
    data += part;
  return data;
}

static void changeLines(std::string &data, SplitMix &chance) {
  std::vector<std::string> lines = split(data, [](char last, char) { return last != '\n'; });
  if (lines.empty())
    return;
  auto draw = [&] { return lines.begin() + chance.below(static_cast<int>(lines.size())); };
  auto at = draw(), other = draw();
  int way = chance.below(3);
  if (way == 0)
    lines.erase(at);
  else if (way == 1)
    lines.insert(at, std::string(*other));
  else
    std::swap(*at, *other);
  data = join(lines);
}

static bool isWord(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+';
}

static bool isName(const std::string &token) {
  return isalpha(static_cast<unsigned char>(token[0])) || token[0] == '_' ||
         (token.size() > 1 && std::strchr("%@#^!", token[0]));
}

static bool isNumber(const std::string &token) {
  return isdigit(static_cast<unsigned char>(token.back())) && !isName(token) &&
         (isdigit(static_cast<unsigned char>(token[0])) || token[0] == '-');
}

/// Splits a text into names with their sigils, numbers, blanks and single signs.
static std::vector<std::string> splitTokens(const std::string &data) {
  return split(data, [](char last, char next) {
    if (isspace(static_cast<unsigned char>(last)))
      return isspace(static_cast<unsigned char>(next)) != 0;
    return isWord(next) && (isWord(last) || std::strchr("%@#^!", last));
  });
}

/// Changes a number: to an extreme, or by a little, so that most files stay valid.
static std::string changeNumber(const std::string &token, SplitMix &chance) {
  if (chance.below(2))
    return kNumbers[chance.below(std::size(kNumbers))];
  int64_t old = std::strtoll(token.c_str(), nullptr, 10);
  if (old < -(int64_t(1) << 59) || old > int64_t(1) << 59)
    return "0";
  const int64_t nudged[] = {old + 1, old - 1, old * 2, old / 2, old * 3, old * 8, old * 10, -old};
  return std::to_string(nudged[chance.below(8)]);
}

/// Changes one token: removes or repeats it, or replaces it by one of its kind or any other.
static void changeToken(std::string &data, SplitMix &chance) {
  std::vector<std::string> tokens = splitTokens(data);
  std::vector<size_t> words, names, numbers;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (isspace(static_cast<unsigned char>(tokens[i][0])))
      continue;
    words.push_back(i);
    if (isName(tokens[i]))
      names.push_back(i);
    else if (isNumber(tokens[i]))
      numbers.push_back(i);
  }
  auto pick = [&](const std::vector<size_t> &from) -> std::string & {
    return tokens[from[chance.below(static_cast<int>(from.size()))]];
  };
  int way = chance.below(8);
  if (words.empty())
    return;
  if (way < 3 && !numbers.empty()) {
    std::string &number = pick(numbers);
    number = changeNumber(number, chance);
  } else if (way < 5 && !names.empty()) {
    std::string name = pick(names);
    std::swap(pick(names), name);
  } else if (way == 5) {
    pick(words).clear();
  } else {
    std::string other = pick(words);
    std::string &at = pick(words);
    at = way == 6 ? other : at + " " + other;
  }
  data = join(tokens);
}

/// Nests values far deeper than a file of people.
static void nest(std::string &data, SplitMix &chance) {
  constexpr int kDepths[] = {20, 110, 2000};
  const std::pair<const char *, const char *> brackets[] = {
      {"[", "]"}, {"{\"a\":", "}"}, {"(", ")"}, {"tensor<", ">"}};
  int depth = kDepths[chance.below(3)];
  auto [open, close] = brackets[chance.below(4)];
  std::string inserted;
  for (int i = 0; i < depth; ++i)
    inserted += open;
  for (int i = 0; chance.below(2) && i < depth; ++i)
    inserted += close;
  data.insert(drawPlace(data.size(), chance), inserted);
}

static void change(std::string &data, const std::string &other, bool isText, SplitMix &chance) {
  int way = chance.below(isText ? 16 : 5);
  if (way == 0)
    cut(data, chance);
  else if (way == 1)
    changeBytes(data, chance);
  else if (way == 2)
    takeFrom(data, other, chance);
  else if (!isText)
    way == 3 ? changeInteger(data, chance) : changeBytes(data, chance);
  else if (way < 6)
    changeLines(data, chance);
  else if (way == 6 && chance.below(8) == 0)
    nest(data, chance);
  else
    changeToken(data, chance);
}

std::string mutate(std::string data, const std::string &other, bool isText, SplitMix &chance) {
  constexpr size_t kMostBytes = size_t(1) << 20;
  for (int count = std::max(1, chance.below(4)); count > 0; --count)
    change(data, other, isText, chance);
  data.resize(std::min(data.size(), kMostBytes));
  return data;
}

} // namespace reprise::fuzz
