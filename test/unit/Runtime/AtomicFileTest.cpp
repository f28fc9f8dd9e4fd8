// reprise: tests of files that are written completely or not at all
#include "reprise/Runtime/AtomicFile.h"

#include "gtest/gtest.h"
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace reprise;

namespace {

class AtomicFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/reprise-atomic-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override {
    for (const std::string &name : entries())
      unlink(in(name).c_str());
    rmdir(folder.c_str());
  }
  std::string in(const std::string &name) const { return folder + "/" + name; }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    DIR *stream = opendir(folder.c_str());
    while (dirent *entry = readdir(stream))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    closedir(stream);
    return names;
  }
  static std::string contents(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  std::string folder;
};

TEST_F(AtomicFileTest, AppearsOnCommitOnly) {
  AtomicFile file(in("out"));
  ASSERT_TRUE(file.write("hello"));
  EXPECT_NE(access(in("out").c_str(), F_OK), 0);
  ASSERT_TRUE(file.commit()) << file.error();
  EXPECT_EQ(contents(in("out")), "hello");
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(AtomicFileTest, KeepsTheOldFileWithoutCommit) {
  ASSERT_EQ(writeFileAtomically(in("out"), "old", 3), "");
  {
    AtomicFile file(in("out"));
    ASSERT_TRUE(file.write("new"));
  }
  EXPECT_EQ(contents(in("out")), "old");
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(AtomicFileTest, ReplacesAndKeepsTheMode) {
  ASSERT_EQ(writeFileAtomically(in("out"), "old", 3), "");
  ASSERT_EQ(chmod(in("out").c_str(), 0640), 0);
  ASSERT_EQ(writeFileAtomically(in("out"), "newer", 5), "");
  EXPECT_EQ(contents(in("out")), "newer");
  struct stat info;
  ASSERT_EQ(stat(in("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(AtomicFileTest, HonoursTheUmask) {
  mode_t old = umask(027);
  std::string error = writeFileAtomically(in("out"), "x", 1);
  umask(old);
  ASSERT_EQ(error, "");
  struct stat info;
  ASSERT_EQ(stat(in("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(AtomicFileTest, FollowsLinks) {
  ASSERT_EQ(symlink("target", in("link").c_str()), 0);
  ASSERT_EQ(writeFileAtomically(in("link"), "x", 1), "");
  struct stat info;
  ASSERT_EQ(lstat(in("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(contents(in("target")), "x");
}

TEST_F(AtomicFileTest, SaysWhyItCannotOpen) {
  EXPECT_EQ(writeFileAtomically(in("none/out"), "x", 1),
            "cannot write '" + in("none/out") + "': No such file or directory");
  EXPECT_EQ(writeFileAtomically(folder, "x", 1), "cannot write '" + folder + "': Is a directory");
}

TEST_F(AtomicFileTest, LeavesDevicesInPlace) {
  EXPECT_EQ(writeFileAtomically("/dev/null", "x", 1), "");
  struct stat info;
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST_F(AtomicFileTest, ReportsAFullDisk) {
  EXPECT_EQ(writeFileAtomically("/dev/full", "x", 1),
            "cannot write '/dev/full': No space left on device");
}

// A file size limit stands for a disk that fills up in the middle of a file.
TEST_F(AtomicFileTest, LeavesNothingWhenTheDiskFillsUp) {
  ASSERT_EQ(writeFileAtomically(in("out"), "old", 3), "");
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string text(10000, 'x');
    _exit(writeFileAtomically(in("out"), text.data(), text.size()).empty() ? 1 : 0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(contents(in("out")), "old");
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(AtomicFileTest, LeavesNothingWhenKilled) {
  pid_t child = fork();
  if (child == 0) {
    AtomicFile file(in("out"));
    file.write("half");
    raise(SIGKILL);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  // File systems without unnamed files may keep the temporary one, never the target.
  EXPECT_NE(access(in("out").c_str(), F_OK), 0);
}

TEST_F(AtomicFileTest, WritesIntoAnOpenStandardOutput) {
  pid_t child = fork();
  if (child == 0) {
    int out = open(in("out").c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(out, STDOUT_FILENO);
    bool good = writeFileAtomically("-", "one", 3).empty();
    good &= write(STDOUT_FILENO, "two", 3) == 3;
    _exit(good ? 0 : 1);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(in("out")), "onetwo");
}

} // namespace
