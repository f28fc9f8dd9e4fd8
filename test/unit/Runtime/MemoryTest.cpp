// reprise: tests of the memory of a machine
#include "reprise/Runtime/Memory.h"
#include "TestBundle.h"

#include "gtest/gtest.h"
#include <fstream>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

TEST(Memory, TakesTheSmallestLimit) {
  TemporaryFolder root;
  auto put = [&](const std::string &name, const std::string &text) {
    std::string path = root.file(name);
    ASSERT_EQ(std::system(("mkdir -p $(dirname " + path + ")").c_str()), 0);
    std::ofstream(path) << text;
  };
  std::string slash = root.path + "/";
  EXPECT_EQ(availableMemory(slash), UINT64_MAX);
  put("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n");
  EXPECT_EQ(availableMemory(slash), 5000u * 1024);
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "10\n");
  put("sys/fs/cgroup/a/memory.max", "3000\n");
  put("sys/fs/cgroup/a/memory.current", "2500\n");
  put("sys/fs/cgroup/a/memory.stat", "anon 100\nfile 1000\nfile_mapped 7\n");
  EXPECT_EQ(availableMemory(slash), 1500u);
  put("proc/self/cgroup", "5:cpu:/x\n4:memory:/m\n");
  put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "2000\n");
  put("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "2100\n");
  EXPECT_EQ(availableMemory(slash), 0u);
}

TEST(Memory, ThisSystemTells) {
  EXPECT_LT(availableMemory(), UINT64_MAX);
  EXPECT_GT(availableMemory(), 0u);
  EXPECT_GT(peakResidentBytes(), 0u);
}

} // namespace
