// reprise: splits a PTX text into words
#ifndef REPRISE_GPU_EMULATOR_LEXER_H
#define REPRISE_GPU_EMULATOR_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::emulator {

struct Token {
  /// Dotted: a directive or modifier, without its dot. Symbol: one character of punctuation.
  enum class Kind : uint8_t { Word, Dotted, Number, String, Symbol, End };
  Kind kind = Kind::End;
  std::string_view text;
  uint64_t value = 0; ///< value of a number: an integer, or the bits of a float
  unsigned line = 0;

  bool is(char symbol) const { return kind == Kind::Symbol && text[0] == symbol; }
};

/// Splits a text. Returns false, with an error that begins with "line N: ", if a character begins
/// no word.
bool splitIntoTokens(std::string_view text, std::vector<Token> &tokens, std::string &error);

} // namespace reprise::emulator

#endif
