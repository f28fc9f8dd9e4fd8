// reprise: parses the statements of a PTX function
#include "Parser.h"

using namespace reprise::emulator;

/// Parses a body behind the opening brace. An inner scope has its own names.
void Parser::parseBody() {
  open.push_back({scopes++, {}, {}});
  while (!in.peek().is('}') && in.peek().kind != Token::Kind::End)
    parseStatement();
  in.expect('}');
  open.pop_back();
}

void Parser::parseStatement() {
  if (in.accept('{'))
    return parseBody();
  if (in.accept(';'))
    return;
  if (in.peek().kind == Token::Kind::Dotted)
    return parseDeclaration();
  if (in.peek().kind == Token::Kind::Word && in.peek(1).is(':')) {
    std::string label(in.take().text);
    in.take();
    function->labels[label] = function->body.size();
    if (in.peek().kind == Token::Kind::Dotted && in.peek().text == "branchtargets")
      parseTable(function->tables[label]);
    return;
  }
  parseInstruction();
}

void Parser::parseTable(std::vector<std::string> &labels) {
  in.take();
  do
    labels.push_back(in.expectWord("a label"));
  while (in.accept(','));
  in.expect(';');
}

void Parser::parseDeclaration() {
  std::string name(in.peek().text);
  if (name == "loc" || name == "pragma")
    return in.skipLine();
  in.take();
  if (name == "reg")
    return parseRegisters();
  Space space;
  if (!spaceNamed(name, space) || space == Space::Const || space == Space::Global)
    return in.fail("unknown directive ." + name);
  Variable variable = parseVariable(space);
  std::string unique = variable.name;
  if (open.back().number)
    unique += "@" + std::to_string(open.back().number);
  open.back().variables[variable.name] = unique;
  variable.name = unique;
  function->variables.push_back(variable);
  in.expect(';');
}

void Parser::declareRegister(const std::string &name, Type type) {
  open.back().registers[name] = function->registers.size();
  function->registers.push_back({name, type});
}

void Parser::parseRegisters() {
  std::string name(in.take().text);
  Type type = typeNamed(name);
  if (type == Type::None)
    return in.fail("unknown type ." + name);
  do {
    std::string prefix = in.expectWord("the name of a register");
    if (!in.accept('<')) {
      declareRegister(prefix, type);
      continue;
    }
    uint64_t count = in.expectNumber();
    if (count > 1000000)
      return in.fail("too many registers");
    for (uint64_t i = 0; i < count; ++i)
      declareRegister(prefix + std::to_string(i), type);
    in.expect('>');
  } while (in.accept(','));
  in.expect(';');
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
  made.line = in.peek().line;
  if (in.accept('@')) {
    made.guardNegated = in.accept('!');
    std::string name = in.expectWord("a predicate");
    made.guard = registerNamed(name);
    if (made.guard < 0 || function->registers[made.guard].type != Type::Pred)
      return in.fail("'" + name + "' is no predicate");
  }
  made.opcode = in.expectWord("an instruction");
  while (in.peek().kind == Token::Kind::Dotted)
    made.modifiers.emplace_back(in.take().text);
  if (!in.peek().is(';'))
    do
      made.operands.push_back(parseOperand());
    while (in.accept(','));
  in.expect(';');
  function->body.push_back(std::move(made));
}

Operand Parser::parseOperand() {
  Operand operand = parseSimpleOperand();
  if (!in.accept('|'))
    return operand;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(std::move(operand));
  pair.elements.push_back(parseSimpleOperand());
  return pair;
}

Operand Parser::parseSimpleOperand() {
  if (in.accept('{'))
    return parseList('}');
  if (in.accept('('))
    return parseList(')');
  if (in.accept('['))
    return parseAddress();
  Operand operand;
  bool negative = in.accept('-');
  if (negative || in.peek().kind == Token::Kind::Number) {
    operand.kind = Operand::Kind::Immediate;
    operand.value = negative ? 0 - in.expectNumber() : in.expectNumber();
    return operand;
  }
  bool negated = in.accept('!');
  operand = parseName();
  operand.negated = negated;
  return operand;
}

Operand Parser::parseList(char close) {
  Operand list;
  list.kind = Operand::Kind::Vector;
  if (in.accept(close))
    return list;
  do
    list.elements.push_back(parseSimpleOperand());
  while (in.accept(','));
  in.expect(close);
  return list;
}

int64_t Parser::parseOffset() {
  int64_t sum = 0;
  while (in.peek().is('+') || in.peek().is('-')) {
    bool negative = in.take().is('-');
    negative ^= in.accept('-');
    int64_t value = in.expectNumber();
    sum += negative ? -value : value;
  }
  return sum;
}

Operand Parser::parseName() {
  Operand operand;
  std::string name = in.expectWord("an operand");
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
  if (in.peek().kind == Token::Kind::Number) {
    operand.offset = in.expectNumber();
  } else {
    operand = parseName();
    if (operand.kind == Operand::Kind::Special || operand.kind == Operand::Kind::Sink)
      in.fail("'" + operand.symbol + "' is no address");
  }
  operand.kind = Operand::Kind::Address;
  operand.offset += parseOffset();
  in.expect(']');
  return operand;
}
