// reprise: parses the statements of a PTX function
#include "Parser.h"

using namespace reprise::emulator;

/// Behind the opening brace. A scope within has names of its own.
void Parser::parseBody() {
  open.push_back({scopes++, {}, {}});
  while (!peek().is('}') && peek().kind != Token::Kind::End)
    parseStatement();
  expect('}');
  open.pop_back();
}

void Parser::parseStatement() {
  if (accept('{'))
    return parseBody();
  if (accept(';'))
    return;
  if (peek().kind == Token::Kind::Dotted)
    return parseDeclaration();
  if (peek().kind == Token::Kind::Word && peek(1).is(':')) {
    std::string label(take().text);
    take();
    function->labels[label] = function->body.size();
    if (peek().kind == Token::Kind::Dotted && peek().text == "branchtargets")
      parseTable(function->tables[label]);
    return;
  }
  parseInstruction();
}

void Parser::parseTable(std::vector<std::string> &labels) {
  take();
  do
    labels.push_back(expectWord("a label"));
  while (accept(','));
  expect(';');
}

void Parser::parseDeclaration() {
  std::string name(peek().text);
  if (name == "loc" || name == "pragma")
    return skipLine();
  take();
  if (name == "reg")
    return parseRegisters();
  Space space;
  if (!spaceNamed(name, space) || space == Space::Const || space == Space::Global)
    return fail("unknown directive ." + name);
  Variable variable = parseVariable(space);
  std::string unique = variable.name;
  if (open.back().number)
    unique += "@" + std::to_string(open.back().number);
  open.back().variables[variable.name] = unique;
  variable.name = unique;
  function->variables.push_back(variable);
  expect(';');
}

void Parser::declareRegister(const std::string &name, Type type) {
  open.back().registers[name] = function->registers.size();
  function->registers.push_back({name, type});
}

void Parser::parseRegisters() {
  std::string name(take().text);
  Type type = typeNamed(name);
  if (type == Type::None)
    return fail("unknown type ." + name);
  do {
    std::string prefix = expectWord("the name of a register");
    if (!accept('<')) {
      declareRegister(prefix, type);
      continue;
    }
    uint64_t count = expectNumber();
    if (count > 1000000)
      return fail("too many registers");
    for (uint64_t i = 0; i < count; ++i)
      declareRegister(prefix + std::to_string(i), type);
    expect('>');
  } while (accept(','));
  expect(';');
}

int Parser::registerNamed(const std::string &name) const {
  for (auto scope = open.rbegin(); scope != open.rend(); ++scope) {
    auto found = scope->registers.find(name);
    if (found != scope->registers.end())
      return found->second;
  }
  return -1;
}

std::string Parser::localName(const std::string &name) const {
  for (auto scope = open.rbegin(); scope != open.rend(); ++scope) {
    auto found = scope->variables.find(name);
    if (found != scope->variables.end())
      return found->second;
  }
  return name;
}

void Parser::parseInstruction() {
  Instruction made;
  made.line = peek().line;
  if (accept('@')) {
    made.guardNegated = accept('!');
    std::string name = expectWord("a predicate");
    made.guard = registerNamed(name);
    if (made.guard < 0 || function->registers[made.guard].type != Type::Pred)
      return fail("'" + name + "' is no predicate");
  }
  made.opcode = expectWord("an instruction");
  while (peek().kind == Token::Kind::Dotted)
    made.modifiers.emplace_back(take().text);
  if (!peek().is(';'))
    do
      made.operands.push_back(parseOperand());
    while (accept(','));
  expect(';');
  function->body.push_back(std::move(made));
}

Operand Parser::parseOperand() {
  Operand operand = parseSimpleOperand();
  if (!accept('|'))
    return operand;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(std::move(operand));
  pair.elements.push_back(parseSimpleOperand());
  return pair;
}

Operand Parser::parseSimpleOperand() {
  if (accept('{'))
    return parseList('}');
  if (accept('('))
    return parseList(')');
  if (accept('['))
    return parseAddress();
  Operand operand;
  bool negative = accept('-');
  if (negative || peek().kind == Token::Kind::Number) {
    operand.kind = Operand::Kind::Immediate;
    operand.value = negative ? 0 - expectNumber() : expectNumber();
    return operand;
  }
  bool negated = accept('!');
  operand = parseName();
  operand.negated = negated;
  return operand;
}

Operand Parser::parseList(char close) {
  Operand list;
  list.kind = Operand::Kind::Vector;
  if (accept(close))
    return list;
  do
    list.elements.push_back(parseSimpleOperand());
  while (accept(','));
  expect(close);
  return list;
}

int64_t Parser::parseOffset() {
  int64_t sum = 0;
  while (peek().is('+') || peek().is('-')) {
    bool negative = take().is('-');
    negative ^= accept('-');
    int64_t value = expectNumber();
    sum += negative ? -value : value;
  }
  return sum;
}

Operand Parser::parseName() {
  Operand operand;
  std::string name = expectWord("an operand");
  operand.reg = registerNamed(name);
  if (operand.reg >= 0) {
    operand.kind = Operand::Kind::Register;
  } else if (name == "_") {
    operand.kind = Operand::Kind::Sink;
  } else if (name[0] == '%') {
    operand.kind = Operand::Kind::Special;
    operand.symbol = name;
  } else {
    operand.kind = Operand::Kind::Symbol;
    operand.symbol = localName(name);
    operand.offset = parseOffset();
  }
  return operand;
}

Operand Parser::parseAddress() {
  Operand operand;
  if (peek().kind == Token::Kind::Number) {
    operand.offset = expectNumber();
  } else {
    operand = parseName();
    if (operand.kind == Operand::Kind::Special || operand.kind == Operand::Kind::Sink)
      fail("'" + operand.symbol + "' is no address");
  }
  operand.kind = Operand::Kind::Address;
  operand.offset += parseOffset();
  expect(']');
  return operand;
}
