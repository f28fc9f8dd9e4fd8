// reprise: common code of the parsers of declarations and of bodies
#ifndef REPRISE_GPU_EMULATOR_PARSER_H
#define REPRISE_GPU_EMULATOR_PARSER_H

#include "Lexer.h"
#include "Ptx.h"

namespace reprise::emulator {

/// Reader before a token. After the first error it stands at the end of the text, so that callers
/// need not check after each step.
class TokenReader {
public:
  explicit TokenReader(std::vector<Token> tokens) : tokens(std::move(tokens)) {}

  const Token &peek(size_t ahead = 0) const;
  /// Returns the token before the next one.
  const Token &last() const { return tokens[at - 1]; }
  Token take();
  bool accept(char symbol);
  void expect(char symbol);
  std::string expectWord(const char *what);
  uint64_t expectNumber();
  void skipLine();
  void skipSection();
  void fail(const std::string &text);
  /// Returns the first error; empty if there is none.
  const std::string &error() const { return message; }

private:
  std::vector<Token> tokens;
  size_t at = 0;
  std::string message;
};

/// Sets `space` to the space of that name. Returns false if there is none.
bool spaceNamed(std::string_view name, Space &space);

/// Parses the declarations of a module and the bodies of its functions.
class Parser {
public:
  Parser(std::vector<Token> tokens, Module &module) : in(std::move(tokens)), module(module) {}
  bool run(std::string &error);

private:
  // Parser.cpp: the module and its declarations
  void parseTopLevel();
  void parseVersion();
  void parseFunction(bool isEntry);
  void parseFunctionDirectives(Function &function);
  std::vector<Variable> parseParameters();
  Variable parseVariable(Space space);
  void parseInitializer(Variable &variable, unsigned elementBytes);

  // ParseBody.cpp: the statements of a function
  void parseBody();
  void parseStatement();
  void parseTable(std::vector<std::string> &labels);
  void parseDeclaration();
  void parseRegisters();
  void declareRegister(const std::string &name, Type type);
  void parseInstruction();
  Operand parseOperand();
  Operand parseSimpleOperand();
  Operand parseAddress();
  Operand parseList(char close);
  Operand parseName();
  int64_t parseOffset();
  int registerNamed(const std::string &name) const;
  std::string localName(const std::string &name) const;

  TokenReader in;
  Module &module;

  Function *function = nullptr;
  unsigned scopes = 0; ///< number of scopes in the function, which makes their names unique
  struct Scope {
    unsigned number;
    std::unordered_map<std::string, int> registers;
    std::unordered_map<std::string, std::string> variables;
  };
  std::vector<Scope> open;
};

} // namespace reprise::emulator

#endif
