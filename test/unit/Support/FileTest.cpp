// reprise: tests of LLVM streams into files
#include "reprise/Support/File.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <unistd.h>

using namespace reprise;

TEST(File, WritesMoreThanOneBuffer) {
  std::string path = "/tmp/reprise-file-" + std::to_string(getpid());
  std::string text(300000, 'x');
  llvm::Error error = writeFile(path, [&](llvm::raw_ostream &os) { os << text << "end"; });
  ASSERT_FALSE(static_cast<bool>(error)) << toString(std::move(error));
  auto buffer = llvm::MemoryBuffer::getFile(path);
  unlink(path.c_str());
  ASSERT_TRUE(static_cast<bool>(buffer));
  EXPECT_EQ((*buffer)->getBuffer(), text + "end");
}

TEST(File, ReportsAFullDisk) {
  llvm::Error error = writeFile("/dev/full", [](llvm::raw_ostream &os) { os << "x"; });
  EXPECT_EQ(toString(std::move(error)), "cannot write '/dev/full': No space left on device");
}
