// reprise: messages about a model, with the scopes of its ops
#include "reprise/Support/Diagnostics.h"

#include "reprise/Support/Locations.h"
#include "reprise/Support/Readable.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <deque>

using namespace mlir;

static const char *toolName = "";

void reprise::setToolName(const char *name) { toolName = name; }

const char *reprise::getToolName() { return toolName; }

void reprise::printError(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), toolName) << shortenMessage(message.str()) << "\n";
}

static llvm::SourceMgr::DiagKind toKind(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return llvm::SourceMgr::DK_Error;
  case DiagnosticSeverity::Warning:
    return llvm::SourceMgr::DK_Warning;
  case DiagnosticSeverity::Note:
    return llvm::SourceMgr::DK_Note;
  case DiagnosticSeverity::Remark:
    return llvm::SourceMgr::DK_Remark;
  }
  llvm_unreachable("unknown severity");
}

static void printKind(llvm::SourceMgr::DiagKind kind) {
  switch (kind) {
  case llvm::SourceMgr::DK_Error:
    llvm::WithColor::error(llvm::errs());
    return;
  case llvm::SourceMgr::DK_Warning:
    llvm::WithColor::warning(llvm::errs());
    return;
  case llvm::SourceMgr::DK_Note:
    llvm::WithColor::note(llvm::errs());
    return;
  case llvm::SourceMgr::DK_Remark:
    llvm::WithColor::remark(llvm::errs());
    return;
  }
}

/// Limit of the length of paths.
static constexpr size_t kLongestPlace = 4200;

/// Returns whether a note is the text of an op with regions, such as the whole model, which the
/// user has.
static bool isDump(Diagnostic &note) {
  std::string text = note.str();
  return StringRef(text).starts_with("see current operation: ") && StringRef(text).contains('\n');
}

/// Returns the diagnostic without the notes that are dumps.
static Diagnostic dropDumps(Diagnostic &diagnostic) {
  Diagnostic kept(diagnostic.getLocation(), diagnostic.getSeverity());
  kept << diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    if (!isDump(note))
      kept.attachNote(note.getLocation()) << note.str();
  return kept;
}

namespace {
class ScopeHandler {
public:
  explicit ScopeHandler(std::string file) : file(std::move(file)) {}

  /// Fails where another handler is to print.
  LogicalResult handle(Diagnostic &diagnostic) {
    if (llvm::any_of(diagnostic.getNotes(), isDump)) {
      diagnostic.getLocation().getContext()->getDiagEngine().emit(dropDumps(diagnostic));
      return success();
    }
    kept.clear();
    // We shorten in place. The reader of bytecode has a handler that adds a note with raw bytes to
    // each diagnostic, so that a shortened copy would get the note again, without end.
    shorten(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      shorten(note);
    if (StringRef flag = reprise::getFlag(diagnostic.getLocation()); !flag.empty()) {
      printFlag(flag, diagnostic);
      return success();
    }
    auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
    // A message about the whole model does not concern its first line.
    bool isWhole = place && place.getLine() == 1 && place.getColumn() == 1 &&
                   place.getFilename().getValue() == file;
    for (Diagnostic &note : diagnostic.getNotes())
      addScope(note);
    addScope(diagnostic);
    size_t length = reprise::getPlace(diagnostic.getLocation()).size();
    if (length > 0 && length <= kLongestPlace && !isWhole)
      return failure();
    print(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      print(note);
    return success();
  }

private:
  void addScope(Diagnostic &diagnostic) {
    std::string scope = reprise::getScope(diagnostic.getLocation());
    // A remark names its value.
    bool isRemark = diagnostic.getSeverity() == DiagnosticSeverity::Remark;
    if (scope.empty() || isRemark)
      return;
    replace(diagnostic, "in " + reprise::shortenMessage(scope) + ": " + diagnostic.str());
  }

  void shorten(Diagnostic &diagnostic) {
    std::string text = diagnostic.str(), shown = reprise::shortenMessage(text);
    if (text != shown)
      replace(diagnostic, std::move(shown));
  }

  void replace(Diagnostic &diagnostic, std::string text) {
    // The diagnostic only refers to its texts.
    kept.push_back(std::move(text));
    for (DiagnosticArgument &argument : diagnostic.getArguments())
      argument = DiagnosticArgument(StringRef());
    if (!diagnostic.getArguments().empty())
      diagnostic.getArguments().front() = DiagnosticArgument(StringRef(kept.back()));
  }

  /// Prints a message about a flag, which concerns no line of the model.
  void printFlag(StringRef flag, Diagnostic &diagnostic) const {
    llvm::raw_ostream &stream = llvm::errs();
    if (*toolName)
      stream << toolName << ": ";
    printKind(toKind(diagnostic.getSeverity()));
    stream << reprise::shortenMessage(flag) << ": " << diagnostic << "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      print(note);
  }

  void print(const Diagnostic &diagnostic) const {
    std::string place = reprise::getPlace(diagnostic.getLocation());
    llvm::raw_ostream &stream = llvm::errs();
    stream << reprise::shortenMessage(place.empty() ? file : place) << ": ";
    printKind(toKind(diagnostic.getSeverity()));
    stream << diagnostic << "\n";
  }

  std::string file;
  std::deque<std::string> kept; ///< texts of the current diagnostic
};
} // namespace

DiagnosticEngine::HandlerID reprise::showScopes(MLIRContext &context, std::string file) {
  auto handler = std::make_shared<ScopeHandler>(std::move(file));
  return context.getDiagEngine().registerHandler(
      [handler](Diagnostic &diagnostic) { return handler->handle(diagnostic); });
}

void reprise::hideLongLines(llvm::SourceMgr &sources) {
  static constexpr size_t longest = 1000; // characters, some ten lines of a terminal
  sources.setDiagHandler([](const llvm::SMDiagnostic &diagnostic, void *) {
    StringRef line = diagnostic.getLineContents();
    bool isText = llvm::none_of(line, [](unsigned char c) { return c < ' ' && c != '\t'; });
    if (line.size() <= longest && isText)
      return diagnostic.print(/*ProgName=*/nullptr, llvm::errs());
    llvm::errs() << diagnostic.getFilename() << ":" << diagnostic.getLineNo() << ":"
                 << diagnostic.getColumnNo() + 1 << ": ";
    printKind(diagnostic.getKind());
    llvm::errs() << diagnostic.getMessage() << "\n";
  });
}
