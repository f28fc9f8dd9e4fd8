// reprise: words that a launch has read as constant memory, by ld.global.nc
#ifndef REPRISE_GPU_EMULATOR_CONSTANTREADS_H
#define REPRISE_GPU_EMULATOR_CONSTANTREADS_H

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <map>

namespace reprise::emulator {

struct Launch;

/// Words of global memory, and a line of code that reads some of each page.
class ConstantReads {
public:
  void add(uint64_t address, uint64_t bytes, uint32_t line) {
    for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      if (word / wordsOfPage != lastNumber)
        findPage(word / wordsOfPage);
      last->words.set(word % wordsOfPage);
      last->line = std::min(last->line, line);
    }
  }
  void add(const ConstantReads &others);
  /// Fails a launch that has written such a word: a GPU may read it at any time, and from a cache
  /// that does not see the write.
  void check(Launch &launch) const;

private:
  static constexpr uint64_t wordsOfPage = 1024;
  struct Page {
    std::bitset<wordsOfPage> words;
    uint32_t line = ~0u;
  };
  void findPage(uint64_t number) {
    lastNumber = number;
    last = &pages[number];
  }

  std::map<uint64_t, Page> pages;
  uint64_t lastNumber = ~uint64_t(0);
  Page *last = nullptr;
};

} // namespace reprise::emulator

#endif
