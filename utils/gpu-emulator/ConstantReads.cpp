// reprise: words that a launch has read as constant memory, by ld.global.nc
#include "ConstantReads.h"
#include "Machine.h"

using namespace reprise::emulator;

void ConstantReads::add(const ConstantReads &others) {
  for (const auto &[number, page] : others.pages) {
    findPage(number);
    last->words |= page.words;
    last->line = std::min(last->line, page.line);
  }
}

void ConstantReads::check(Launch &launch) const {
  for (const auto &[number, page] : pages)
    for (uint64_t i = 0; i < wordsOfPage; ++i) {
      uint64_t address = (number * wordsOfPage + i) * 4;
      const Allocation *allocation = page.words[i] ? launch.memory->find(address) : nullptr;
      if (!allocation ||
          launchOf(allocation->shadow[(address - allocation->begin) / 4].write) != launch.number)
        continue;
      return launch.fail(Fault::ConstantWritten, "kernel " + launch.program->name + ": line " +
                                                     std::to_string(page.line) + ": " +
                                                     faultName(Fault::ConstantWritten) + ": " +
                                                     launch.memory->describe(address));
    }
}
