// reprise: parses the declarations of a PTX module
#include "Parser.h"

#include <algorithm>
#include <cstring>

using namespace reprise::emulator;

bool reprise::emulator::parsePtx(std::string_view text, Module &module, std::string &error) {
  std::vector<Token> tokens;
  return splitIntoTokens(text, tokens, error) && Parser(std::move(tokens), module).run(error);
}

bool Parser::run(std::string &error) {
  while (peek().kind != Token::Kind::End)
    parseTopLevel();
  if (message.empty() && module.version.empty())
    message = "line 1: no .version; this is not PTX";
  error = message;
  return message.empty();
}

const Token &Parser::peek(size_t ahead) const {
  return tokens[std::min(at + ahead, tokens.size() - 1)];
}

Token Parser::take() {
  Token token = peek();
  at = std::min(at + 1, tokens.size() - 1);
  return token;
}

bool Parser::accept(char symbol) {
  if (!peek().is(symbol))
    return false;
  take();
  return true;
}

void Parser::expect(char symbol) {
  if (!accept(symbol))
    fail(std::string("expected '") + symbol + "' and not '" + std::string(peek().text) + "'");
}

std::string Parser::expectWord(const char *what) {
  if (peek().kind != Token::Kind::Word)
    fail(std::string("expected ") + what + " and not '" + std::string(peek().text) + "'");
  return std::string(take().text);
}

uint64_t Parser::expectNumber() {
  if (peek().kind != Token::Kind::Number)
    fail("expected a number and not '" + std::string(peek().text) + "'");
  return take().value;
}

void Parser::fail(const std::string &text) {
  if (message.empty())
    message = "line " + std::to_string(peek().line) + ": " + text;
  at = tokens.size() - 1;
}

bool Parser::spaceNamed(std::string_view name, Space &space) {
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

void Parser::skipLine() {
  for (unsigned line = peek().line; peek().kind != Token::Kind::End && peek().line == line;)
    take();
}

void Parser::skipSection() {
  while (peek().kind != Token::Kind::End && !accept('}'))
    take();
}

void Parser::parseTopLevel() {
  if (peek().kind != Token::Kind::Dotted)
    return fail("expected a directive and not '" + std::string(peek().text) + "'");
  std::string_view name = take().text;
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
    return skipLine();
  if (name == "section")
    return skipSection();
  if (!spaceNamed(name, space))
    return fail("unknown directive ." + std::string(name));
  bool isExtern = !module.variables.empty() && module.variables.back().name.empty();
  if (isExtern)
    module.variables.pop_back();
  module.variables.push_back(parseVariable(space));
  module.variables.back().isExtern = isExtern;
  expect(';');
}

void Parser::parseVersion() {
  std::string_view name = tokens[at - 1].text;
  std::string value;
  for (unsigned line = peek().line; peek().line == line && peek().kind != Token::Kind::End;) {
    bool dotted = peek().kind == Token::Kind::Dotted;
    value += (dotted ? "." : "") + std::string(take().text);
  }
  if (name == "version")
    module.version = value;
  else if (name == "target")
    module.target = value;
  else if (value != "64")
    fail("addresses of other than 64 bits");
}

/// Behind the space: alignment, type, name, extent and initial value.
Variable Parser::parseVariable(Space space) {
  Variable variable;
  variable.space = space;
  Type type = Type::None;
  unsigned vector = 1;
  while (peek().kind == Token::Kind::Dotted) {
    std::string name(take().text);
    if (name == "align")
      variable.align = std::max(variable.align, expectNumber());
    else if (name == "v2" || name == "v4")
      vector = name[1] - '0';
    else if (name != "ptr" && name != "global" && name != "shared" && name != "const")
      if ((type = typeNamed(name)) == Type::None)
        fail("unknown type ." + name);
  }
  unsigned element = std::max(8u, bitsOf(type)) / 8 * vector;
  variable.name = expectWord("the name of a variable");
  variable.bytes = element;
  variable.align = std::max<uint64_t>(variable.align, element);
  while (accept('[')) {
    variable.bytes *= peek().is(']') ? 0 : expectNumber();
    expect(']');
  }
  if (accept('='))
    parseInitializer(variable, element);
  return variable;
}

void Parser::parseInitializer(Variable &variable, unsigned elementBytes) {
  unsigned depth = 0;
  do {
    while (accept('{'))
      ++depth;
    bool negative = accept('-');
    uint64_t value = expectNumber();
    value = negative ? 0 - value : value;
    size_t end = variable.initial.size();
    variable.initial.resize(end + elementBytes);
    std::memcpy(variable.initial.data() + end, &value, std::min(elementBytes, 8u));
    while (depth && accept('}'))
      --depth;
  } while (accept(','));
  if (variable.initial.size() > variable.bytes)
    fail("more values than '" + variable.name + "' has");
}

std::vector<Variable> Parser::parseParameters() {
  std::vector<Variable> params;
  expect('(');
  while (peek().kind == Token::Kind::Dotted) {
    std::string space(take().text);
    if (space != "param")
      fail("a parameter in ." + space);
    params.push_back(parseVariable(Space::Param));
    if (!accept(','))
      break;
  }
  expect(')');
  return params;
}

void Parser::parseFunctionDirectives(Function &function) {
  while (peek().kind == Token::Kind::Dotted) {
    std::string name(take().text);
    if (name == "maxntid" || name == "reqntid") {
      function.maxThreads = expectNumber();
      while (accept(','))
        function.maxThreads *= expectNumber();
    } else if (name == "minnctapersm" || name == "maxnreg") {
      expectNumber();
    } else if (name != "noreturn") {
      return fail("unknown directive ." + name);
    }
  }
}

void Parser::parseFunction(bool isEntry) {
  auto made = std::make_unique<Function>();
  made->isEntry = isEntry;
  made->line = peek().line;
  if (!isEntry && peek().is('('))
    made->results = parseParameters();
  made->name = expectWord("the name of a function");
  if (peek().is('('))
    made->params = parseParameters();
  parseFunctionDirectives(*made);
  if (!module.variables.empty() && module.variables.back().name.empty())
    module.variables.pop_back();
  if (accept(';'))
    return;
  function = made.get();
  scopes = 0;
  open.clear();
  expect('{');
  parseBody();
  module.functions.push_back(std::move(made));
}
