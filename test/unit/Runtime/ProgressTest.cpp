// reprise: tests of the progress bar
#include "reprise/Runtime/Progress.h"

#include "gtest/gtest.h"
#include <unistd.h>

using namespace reprise;

/// Returns the text that `work` draws on a pipe that stands for the terminal.
template <typename Work> static std::string drawn(Work work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  work(ends[1]);
  close(ends[1]);
  std::string text;
  char block[4096];
  while (ssize_t size = read(ends[0], block, sizeof(block)))
    text.append(block, size);
  close(ends[0]);
  return text;
}

TEST(Progress, DrawsABarAndErasesIt) {
  std::string text = drawn([](int fd) {
    Progress progress("train", 4, fd);
    progress.update(4, "loss 2.5");
  });
  EXPECT_EQ(text, "\rtrain [##############################] 4/4  loss 2.5\x1b[K\r\x1b[K");
}

TEST(Progress, IsRedrawnAtMostTenTimesASecond) {
  std::string text = drawn([](int fd) {
    Progress progress("work", 1000000, fd);
    for (int i = 1; i < 1000; ++i)
      progress.update(i);
  });
  EXPECT_LT(text.size(), 1000u);
  EXPECT_NE(text.find("work [..............................] 1/1000000"), std::string::npos);
}

TEST(Progress, IsSilentWithoutATerminal) {
  std::string text = drawn([](int fd) {
    int saved = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    {
      Progress progress("work", 2);
      progress.update(2);
    }
    dup2(saved, STDERR_FILENO);
    close(saved);
  });
  EXPECT_EQ(text, "");
}
