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

TEST(Memory, PagesMoveWithTheirBytes) {
  constexpr uint64_t size = 64 << 10;
  auto valueAt = [](uint64_t at) { return uint8_t(at * 7 % 251 + 1); };
  struct {
    uint64_t offset, bytes;
  } cases[] = {{0, size},       {4096, 8192}, {64, 100},   {4000, 200},     {4032, 8256},
               {192, 3 * 4096}, {8192, 0},    {4096, 100}, {size - 64, 64}, {100, size - 200}};
  for (auto [offset, bytes] : cases) {
    Expected<Pages> pages = Pages::allocate(size, "a test");
    ASSERT_TRUE(bool(pages));
    for (int round = 0; round < 3; ++round) {
      for (uint64_t i = 0; i < size; ++i)
        pages->data()[i] = valueAt(i);
      Expected<Pages> taken = pages->take(offset, bytes);
      ASSERT_TRUE(bool(taken)) << taken.message();
      const uint8_t *own = taken->data() + Pages::placeInPage(offset);
      for (uint64_t i = 0; i < bytes; ++i)
        ASSERT_EQ(own[i], valueAt(offset + i)) << offset << " " << bytes << " " << i;
      for (uint64_t i = 0; i < size; ++i) {
        bool isTaken = i >= offset && i < offset + bytes;
        ASSERT_TRUE(isTaken || pages->data()[i] == valueAt(i))
            << offset << " " << bytes << " " << i;
      }
      if (bytes >= 8192) {
        EXPECT_EQ(pages->data()[offset / 4096 * 4096 + 4096], 0) << "fresh pages stay behind";
      }
      // The memory of the caller and that of the pages are apart.
      taken->data()[Pages::placeInPage(offset)] = 255;
    }
  }
}

} // namespace
