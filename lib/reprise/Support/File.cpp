// reprise: LLVM streams into files that are written whole or not at all
#include "reprise/Support/File.h"

#include "reprise/Runtime/AtomicFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace reprise;

namespace {
/// Passes everything on to an AtomicFile, in blocks; the file remembers its first error.
class AtomicFileStream : public llvm::raw_ostream {
public:
  explicit AtomicFileStream(AtomicFile &file) : file(file) { SetBufferSize(1 << 16); }
  ~AtomicFileStream() override { flush(); }

private:
  void write_impl(const char *data, size_t size) override {
    file.write(data, size);
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  AtomicFile &file;
  uint64_t position = 0;
};
} // namespace

llvm::Error reprise::writeFile(llvm::StringRef path,
                               llvm::function_ref<void(llvm::raw_ostream &)> print) {
  AtomicFile file(path.str());
  {
    AtomicFileStream stream(file);
    print(stream);
  }
  if (file.commit())
    return llvm::Error::success();
  return llvm::createStringError(file.error());
}
