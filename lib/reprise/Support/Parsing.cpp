// reprise: model files read without trust
#include "reprise/Support/Parsing.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/ToolUtilities.h"
#include "reprise/Runtime/FileKind.h"
#include "reprise/Support/Diagnostics.h"
#include "reprise/Support/Guard.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace reprise;

static constexpr size_t kLargestStream = size_t(1) << 30;

static std::unique_ptr<llvm::MemoryBuffer> cannotRead(StringRef path, const Twine &reason) {
  printError("cannot read '" + path + "': " + reason);
  return nullptr;
}

/// Reads a pipe or a device to its end, which may never come (/dev/zero).
static std::unique_ptr<llvm::MemoryBuffer> readStream(StringRef path, int descriptor) {
  SmallString<0> text;
  while (true) {
    size_t size = text.size();
    text.resize_for_overwrite(size + (1 << 16));
    ssize_t count = read(descriptor, text.data() + size, 1 << 16);
    if (count < 0 && errno != EINTR)
      return cannotRead(path, strerror(errno));
    text.truncate(size + std::max<ssize_t>(count, 0));
    if (count == 0)
      return llvm::MemoryBuffer::getMemBufferCopy(text, path == "-" ? "<stdin>" : path);
    if (text.size() > kLargestStream)
      return cannotRead(path, "longer than 1 GiB and no regular file");
  }
}

static std::unique_ptr<llvm::MemoryBuffer> readBuffer(StringRef path) {
  if (path == "-")
    return readStream(path, STDIN_FILENO);
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return cannotRead(path, error.message());
  if (status.type() == llvm::sys::fs::file_type::directory_file)
    return cannotRead(path, "expected a file, got a directory");
  if (status.type() != llvm::sys::fs::file_type::regular_file) {
    int descriptor = open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
      return cannotRead(path, strerror(errno));
    auto buffer = readStream(path, descriptor);
    close(descriptor);
    return buffer;
  }
  // Volatile makes a copy, because another process may shorten a mapped file, which would end this
  // process.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/true, /*IsVolatile=*/true);
  if (!buffer)
    return cannotRead(path, buffer.getError().message());
  return std::move(*buffer);
}

std::unique_ptr<llvm::MemoryBuffer> reprise::readModelFile(StringRef path) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = readBuffer(path);
  if (!buffer)
    return nullptr;
  std::string wrong = runtime::findMisplaced(buffer->getBufferIdentifier().str(),
                                             buffer->getBuffer(), runtime::FileKind::Model);
  if (wrong.empty())
    return buffer;
  printError(wrong);
  return nullptr;
}

/// Real models parse at some MB per second; a sanitizer slows that down tenfold.
static GuardLimits limitsFor(size_t size) {
  GuardLimits limits;
  limits.memoryBytes = (uint64_t(4) << 30) + 64 * uint64_t(size);
  limits.seconds = 20 + size / (1 << 18);
  limits.stackDivisor = 4;
  return limits;
}

/// Parses one module and frees it, since freeing a half-parsed module may also crash, and so may
/// printing a module from bytecode. Returns false if it failed without a message.
static bool parseAndForget(std::unique_ptr<llvm::MemoryBuffer> buffer,
                           const DialectRegistry &registry, const ProbeOptions &options) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(options.allowUnregisteredDialects);
  bool isBinary = isBytecode(buffer->getMemBufferRef());
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  bool isSilent = true;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) { isSilent = false; });
  ParserConfig config(&context, options.verify);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (module && isBinary)
    module->print(llvm::nulls());
  return module || !isSilent;
}

LogicalResult reprise::probeModel(llvm::MemoryBufferRef buffer, const DialectRegistry &registry,
                                  const ProbeOptions &options) {
  bool isExplained = true;
  auto parse = [&] {
    auto copy = llvm::MemoryBuffer::getMemBuffer(buffer, /*RequiresNullTerminator=*/true);
    auto chunk = [&](std::unique_ptr<llvm::MemoryBuffer> part, raw_ostream &) {
      isExplained &= parseAndForget(std::move(part), registry, options);
      return success();
    };
    (void)splitAndProcessBuffer(std::move(copy), chunk, llvm::nulls(), options.splitMarker, "");
    return std::string(isExplained ? "" : "silent");
  };
  std::string answer, reason = runInChild(parse, limitsFor(buffer.getBufferSize()), answer);
  if (reason.empty() && answer.empty())
    return success();
  if (reason.empty()) {
    printError("'" + buffer.getBufferIdentifier() + "' could not be parsed: the file is damaged");
    return failure();
  }
  printError("'" + buffer.getBufferIdentifier() + "' could not be parsed: the parser died (" +
             reason + ")");
  return failure();
}

/// Gives ops without a line the line on which they stand. The model may say loc(unknown), or
/// loc("layer/2/mlp") for a scope, as the zoo's models do, but an error should name a place that an
/// editor can open.
static void placeOps(ModuleOp module, const AsmParserState &state, const llvm::SourceMgr &sources,
                     StringRef file) {
  MLIRContext *context = module.getContext();
  for (const AsmParserState::OperationDefinition &definition : state.getOpDefs()) {
    Operation *op = definition.op;
    auto scope = dyn_cast<NameLoc>(op->getLoc());
    Location known = scope ? scope.getChildLoc() : op->getLoc();
    if (op == module || !isa<UnknownLoc>(known) || !definition.loc.isValid())
      continue;
    auto [line, column] = sources.getLineAndColumn(definition.loc.Start);
    auto place = FileLineColLoc::get(context, file, line, column);
    op->setLoc(scope ? Location(NameLoc::get(scope.getName(), place)) : place);
  }
}

/// Parses as parseSourceFile does, and adds places to ops without a place in the text.
static OwningOpRef<ModuleOp> parseBuffer(const std::shared_ptr<llvm::SourceMgr> &sources,
                                         MLIRContext &context, StringRef name) {
  llvm::MemoryBufferRef buffer = *sources->getMemoryBuffer(sources->getMainFileID());
  OwningOpRef<ModuleOp> module;
  // The verifier's messages need the places.
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  if (isBytecode(buffer)) {
    module = parseSourceFile<ModuleOp>(sources, config);
  } else {
    AsmParserState state;
    Block block;
    auto start = FileLineColLoc::get(&context, name, 0, 0);
    if (succeeded(parseAsmSourceFile(*sources, &block, config, &state)))
      module =
          mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, &context, start);
    if (module)
      placeOps(*module, state, *sources, name);
  }
  if (module && failed(verify(*module)))
    return nullptr;
  return module;
}

/// Places modules and functions at line 1. A module that the file does not spell out would get line
/// 0, which no editor can open, and modules and functions at loc(unknown) would give errors without
/// a file.
static void placeAtStart(ModuleOp module, StringRef file) {
  auto start = FileLineColLoc::get(module.getContext(), file, 1, 1);
  auto place = [&](Operation *op) {
    auto location = dyn_cast<FileLineColLoc>(op->getLoc());
    if (isa<UnknownLoc>(op->getLoc()) || (location && location.getLine() == 0))
      op->setLoc(start);
  };
  place(module);
  for (Operation &op : *module.getBody())
    place(&op);
}

OwningOpRef<ModuleOp> reprise::parseTrustedModel(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                 MLIRContext &context,
                                                 const std::shared_ptr<llvm::SourceMgr> &sources) {
  std::string name = buffer->getBufferIdentifier().str();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  OwningOpRef<ModuleOp> module = parseBuffer(sources, context, name);
  if (module)
    placeAtStart(*module, name);
  return module;
}

OwningOpRef<ModuleOp> reprise::parseModelFile(StringRef path, MLIRContext &context,
                                              const std::shared_ptr<llvm::SourceMgr> &sources) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = readModelFile(path);
  if (!buffer)
    return nullptr;
  ProbeOptions options;
  options.allowUnregisteredDialects = context.allowsUnregisteredDialects();
  if (failed(probeModel(buffer->getMemBufferRef(), context.getDialectRegistry(), options)))
    return nullptr;
  std::string name = buffer->getBufferIdentifier().str();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  showScopes(context, name);
  hideLongLines(*sources);
  OwningOpRef<ModuleOp> module = parseBuffer(sources, context, name);
  if (module)
    placeAtStart(*module, name);
  return module;
}

OwningOpRef<ModuleOp> reprise::parseModelFile(StringRef path, MLIRContext &context) {
  auto sources = std::make_shared<llvm::SourceMgr>();
  SourceMgrDiagnosticHandler handler(*sources, &context);
  return parseModelFile(path, context, sources);
}
