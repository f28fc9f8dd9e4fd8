// reprise: splits a PTX text into words
#include "Lexer.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

using namespace reprise::emulator;

namespace {

bool startsWord(char c) {
  return std::isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}
bool isWord(char c) { return std::isalnum((unsigned char)c) || c == '_' || c == '$'; }

class Lexer {
public:
  Lexer(std::string_view text, std::vector<Token> &tokens) : text(text), tokens(tokens) {}

  bool run(std::string &error) {
    for (skipBlanks(); at < text.size(); skipBlanks())
      if (!next()) {
        error = "line " + std::to_string(line) + ": '" + text[at] + "' begins no word of PTX";
        return false;
      }
    add(Token::Kind::End, at);
    return true;
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : 0; }

  void skipBlanks() {
    for (; at < text.size(); ++at) {
      if (peek() == '\n')
        ++line;
      else if (peek() == '/' && peek(1) == '/')
        at = std::min(text.find('\n', at), text.size()) - 1;
      else if (peek() == '/' && peek(1) == '*')
        skipComment();
      else if (!std::isspace((unsigned char)peek()) && peek() != 0)
        return;
    }
  }

  void skipComment() {
    size_t end = std::min(text.find("*/", at + 2), text.size() - 2) + 1;
    for (; at < end; ++at)
      line += text[at] == '\n';
  }

  void add(Token::Kind kind, size_t end, uint64_t value = 0) {
    tokens.push_back({kind, text.substr(at, end - at), value, line});
    at = end;
  }

  bool next() {
    char c = peek();
    if (startsWord(c))
      return word();
    if (c == '.' && (isWord(peek(1))))
      return dotted();
    if (std::isdigit((unsigned char)c))
      return number();
    if (c == '"') {
      size_t end = text.find('"', at + 1);
      if (end == std::string_view::npos)
        return false;
      add(Token::Kind::String, end + 1);
      return true;
    }
    if (!std::strchr("{}[]()<>,;:@!|+-=&", c))
      return false;
    add(Token::Kind::Symbol, at + 1);
    return true;
  }

  /// Reads a word. A special register includes its coordinate: %tid.x.
  bool word() {
    size_t end = at + 1;
    while (end < text.size() && isWord(text[end]))
      ++end;
    if (text[at] == '%' && end + 1 < text.size() && text[end] == '.' &&
        std::strchr("xyzw", text[end + 1]) && !(end + 2 < text.size() && isWord(text[end + 2])))
      end += 2;
    add(Token::Kind::Word, end);
    return true;
  }

  bool dotted() {
    ++at;
    size_t end = at;
    while (end < text.size() &&
           (isWord(text[end]) || (text[end] == ':' && end + 1 < text.size() &&
                                  (text[end + 1] == ':' || text[end - 1] == ':'))))
      ++end;
    add(Token::Kind::Dotted, end);
    return true;
  }

  bool number() {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    std::string digits(text.substr(at, end - at));
    if (digits.back() == 'U')
      digits.pop_back();
    bool bits = digits.size() > 1 && digits[0] == '0' && std::strchr("fFdD", digits[1]);
    bool binary = digits.size() > 1 && digits[0] == '0' && std::strchr("bB", digits[1]);
    char *last = nullptr;
    const char *first = digits.c_str() + (bits || binary ? 2 : 0);
    uint64_t value = std::strtoull(first, &last, bits ? 16 : binary ? 2 : 0);
    if (*last || last == first)
      return false;
    add(Token::Kind::Number, end, value);
    return true;
  }

  std::string_view text;
  std::vector<Token> &tokens;
  size_t at = 0;
  unsigned line = 1;
};

} // namespace

bool reprise::emulator::splitIntoTokens(std::string_view text, std::vector<Token> &tokens,
                                        std::string &error) {
  return Lexer(text, tokens).run(error);
}
