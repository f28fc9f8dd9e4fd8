// reprise: machine code of PTX, by NVIDIA's assembler
#include "AssemblePtx.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace mlir;

namespace reprise {

std::string findAssembler() {
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  std::vector<std::string> toolkits;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable))
      toolkits.push_back(value);
  if (toolkits.empty())
    toolkits.push_back("/usr/local/cuda");
  for (const std::string &toolkit : toolkits)
    if (auto found = llvm::sys::findProgramByName("ptxas", {toolkit + "/bin"}))
      return *found;
  return "";
}

namespace {

/// A file that is gone with this object.
class ScratchFile {
public:
  explicit ScratchFile(StringRef suffix) {
    error = llvm::sys::fs::createTemporaryFile("reprise", suffix, path);
  }
  ~ScratchFile() {
    if (!error)
      llvm::sys::fs::remove(path);
  }

  std::error_code write(StringRef text) {
    std::error_code written;
    llvm::raw_fd_ostream stream(path, written);
    stream << text;
    stream.close();
    return written ? written : stream.error();
  }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  llvm::SmallString<128> path;
  std::error_code error;
};

} // namespace

FailureOr<std::string> assemblePtx(ModuleOp kernel, StringRef text, StringRef chip) {
  ScratchFile source("ptx"), cubin("cubin"), messages("txt");
  for (ScratchFile *file : {&source, &cubin, &messages})
    if (file->error)
      return kernel.emitError("cannot make a file for ptxas: ") << file->error.message();
  if (std::error_code error = source.write(text))
    return kernel.emitError("cannot write a file for ptxas: ") << error.message();
  std::string assembler = findAssembler(), arch = ("-arch=" + chip).str(), why;
  StringRef arguments[] = {assembler, arch, source.path, "-o", cubin.path};
  std::optional<StringRef> redirects[] = {StringRef(), messages.path.str(), messages.path.str()};
  int code = assembler.empty() ? -1
                               : llvm::sys::ExecuteAndWait(assembler, arguments, std::nullopt,
                                                           redirects, 0, 0, &why);
  std::string machineCode = code == 0 ? cubin.read() : "";
  if (!machineCode.empty())
    return machineCode;
  std::string said = why.empty() ? messages.read() : why;
  return kernel.emitError("ptxas failed for ")
         << chip << ": " << StringRef(said).trim().split('\n').first;
}

} // namespace reprise
