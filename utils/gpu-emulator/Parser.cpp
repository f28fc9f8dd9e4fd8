// reprise: parses the declarations of a PTX module
#include "Parser.h"

#include <algorithm>
#include <cstring>

using namespace reprise::emulator;

bool reprise::emulator::parsePtx(std::string_view text, Module &module, std::string &error) {
  std::vector<Token> tokens;
  return splitIntoTokens(text, tokens, error) && Parser(std::move(tokens), module).run(error);
}

const Token &TokenReader::peek(size_t ahead) const {
  return tokens[std::min(at + ahead, tokens.size() - 1)];
}

Token TokenReader::take() {
  Token token = peek();
  at = std::min(at + 1, tokens.size() - 1);
  return token;
}

bool TokenReader::accept(char symbol) {
  if (!peek().is(symbol))
    return false;
  take();
  return true;
}

void TokenReader::expect(char symbol) {
  if (!accept(symbol))
    fail(std::string("expected '") + symbol + "' and not '" + std::string(peek().text) + "'");
}

std::string TokenReader::expectWord(const char *what) {
  if (peek().kind != Token::Kind::Word)
    fail(std::string("expected ") + what + " and not '" + std::string(peek().text) + "'");
  return std::string(take().text);
}

uint64_t TokenReader::expectNumber() {
  if (peek().kind != Token::Kind::Number)
    fail("expected a number and not '" + std::string(peek().text) + "'");
  return take().value;
}

void TokenReader::fail(const std::string &text) {
  if (message.empty())
    message = "line " + std::to_string(peek().line) + ": " + text;
  at = tokens.size() - 1;
}

bool reprise::emulator::spaceNamed(std::string_view name, Space &space) {
  static const std::pair<const char *, Space> names[] = {{"global", Space::Global},
                                                         {"const", Space::Const},
                                                         {"shared", Space::Shared},
                                                         {"local", Space::Local},
                                                         {"param", Space::Param}};
  for (auto &[text, value] : names)
    if (name == text) {
      space = value;
      return true;
    }
  return false;
}

void TokenReader::skipLine() {
  for (unsigned line = peek().line; peek().kind != Token::Kind::End && peek().line == line;)
    take();
}

void TokenReader::skipSection() {
  while (peek().kind != Token::Kind::End && !accept('}'))
    take();
}

bool Parser::run(std::string &error) {
  while (in.peek().kind != Token::Kind::End)
    parseTopLevel();
  error = in.error();
  if (error.empty() && module.version.empty())
    error = "line 1: no .version; this is not PTX";
  return error.empty();
}

void Parser::parseTopLevel() {
  if (in.peek().kind != Token::Kind::Dotted)
    return in.fail("expected a directive and not '" + std::string(in.peek().text) + "'");
  std::string_view name = in.take().text;
  Space space;
  if (name == "version" || name == "target" || name == "address_size")
    return parseVersion();
  if (name == "visible" || name == "weak" || name == "common")
    return;
  if (name == "extern")
    return module.variables.push_back({"", Space::Global, 1, 0, true, {}}); // its name follows
  if (name == "entry" || name == "func")
    return parseFunction(name == "entry");
  if (name == "file" || name == "loc" || name == "pragma")
    return in.skipLine();
  if (name == "section")
    return in.skipSection();
  if (!spaceNamed(name, space))
    return in.fail("unknown directive ." + std::string(name));
  bool isExtern = !module.variables.empty() && module.variables.back().name.empty();
  if (isExtern)
    module.variables.pop_back();
  module.variables.push_back(parseVariable(space));
  module.variables.back().isExtern = isExtern;
  in.expect(';');
}

void Parser::parseVersion() {
  std::string_view name = in.last().text;
  std::string value;
  for (unsigned line = in.peek().line;
       in.peek().line == line && in.peek().kind != Token::Kind::End;) {
    bool dotted = in.peek().kind == Token::Kind::Dotted;
    value += (dotted ? "." : "") + std::string(in.take().text);
  }
  if (name == "version")
    module.version = value;
  else if (name == "target")
    module.target = value;
  else if (value != "64")
    in.fail("addresses of other than 64 bits");
}

/// Parses a variable behind its space: alignment, type, name, extent and initial value.
Variable Parser::parseVariable(Space space) {
  Variable variable;
  variable.space = space;
  Type type = Type::None;
  unsigned vector = 1;
  while (in.peek().kind == Token::Kind::Dotted) {
    std::string name(in.take().text);
    if (name == "align")
      variable.align = std::max(variable.align, in.expectNumber());
    else if (name == "v2" || name == "v4")
      vector = name[1] - '0';
    else if (name != "ptr" && name != "global" && name != "shared" && name != "const")
      if ((type = typeNamed(name)) == Type::None)
        in.fail("unknown type ." + name);
  }
  unsigned element = std::max(8u, bitsOf(type)) / 8 * vector;
  variable.name = in.expectWord("the name of a variable");
  variable.bytes = element;
  variable.align = std::max<uint64_t>(variable.align, element);
  while (in.accept('[')) {
    variable.bytes *= in.peek().is(']') ? 0 : in.expectNumber();
    in.expect(']');
  }
  if (in.accept('='))
    parseInitializer(variable, element);
  return variable;
}

void Parser::parseInitializer(Variable &variable, unsigned elementBytes) {
  unsigned depth = 0;
  do {
    while (in.accept('{'))
      ++depth;
    bool negative = in.accept('-');
    uint64_t value = in.expectNumber();
    value = negative ? 0 - value : value;
    size_t end = variable.initial.size();
    variable.initial.resize(end + elementBytes);
    std::memcpy(variable.initial.data() + end, &value, std::min(elementBytes, 8u));
    while (depth && in.accept('}'))
      --depth;
  } while (in.accept(','));
  if (variable.initial.size() > variable.bytes)
    in.fail("more values than '" + variable.name + "' has");
}

std::vector<Variable> Parser::parseParameters() {
  std::vector<Variable> params;
  in.expect('(');
  while (in.peek().kind == Token::Kind::Dotted) {
    std::string space(in.take().text);
    if (space != "param")
      in.fail("a parameter in ." + space);
    params.push_back(parseVariable(Space::Param));
    if (!in.accept(','))
      break;
  }
  in.expect(')');
  return params;
}

void Parser::parseFunctionDirectives(Function &function) {
  while (in.peek().kind == Token::Kind::Dotted) {
    std::string name(in.take().text);
    if (name == "maxntid" || name == "reqntid") {
      function.maxThreads = in.expectNumber();
      while (in.accept(','))
        function.maxThreads *= in.expectNumber();
    } else if (name == "minnctapersm" || name == "maxnreg") {
      in.expectNumber();
    } else if (name != "noreturn") {
      return in.fail("unknown directive ." + name);
    }
  }
}

void Parser::parseFunction(bool isEntry) {
  auto made = std::make_unique<Function>();
  made->isEntry = isEntry;
  made->line = in.peek().line;
  if (!isEntry && in.peek().is('('))
    made->results = parseParameters();
  made->name = in.expectWord("the name of a function");
  if (in.peek().is('('))
    made->params = parseParameters();
  parseFunctionDirectives(*made);
  if (!module.variables.empty() && module.variables.back().name.empty())
    module.variables.pop_back();
  if (in.accept(';'))
    return;
  function = made.get();
  scopes = 0;
  open.clear();
  in.expect('{');
  parseBody();
  module.functions.push_back(std::move(made));
}
