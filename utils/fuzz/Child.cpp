// reprise: checks in a child process, whose crash is a verdict
#include "Child.h"

#include "reprise/Support/Guard.h"
#include <cstring>
#include <sys/mman.h>

namespace reprise::fuzz {

static constexpr size_t kPageBytes = size_t(1) << 18;

/// Strings of a verdict, one after the other, each with its end.
static std::string encode(const Verdict &verdict) {
  std::string bytes;
  auto append = [&](llvm::StringRef text) {
    bytes += text.take_front(kPageBytes / 4);
    bytes += '\0';
  };
  append(verdict.kind);
  append(verdict.details);
  for (const auto *set : {&verdict.generated, &verdict.replayed, &verdict.budgets}) {
    for (const std::string &name : *set)
      append(name);
    append("");
  }
  return bytes;
}

static Verdict decode(const char *bytes) {
  Verdict verdict;
  auto take = [&] {
    std::string text = bytes;
    bytes += text.size() + 1;
    return text;
  };
  verdict.kind = take();
  verdict.details = take();
  for (auto *set : {&verdict.generated, &verdict.replayed, &verdict.budgets})
    for (std::string name = take(); !name.empty(); name = take())
      set->insert(name);
  return verdict;
}

Verdict inChild(llvm::function_ref<Verdict()> work) {
  void *page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert(page != MAP_FAILED && "no shared page");
  GuardLimits limits;
  limits.seconds = 120;
  limits.memoryBytes = uint64_t(4) << 30;
  std::string reason = runInChild(
      [&] {
        std::string bytes = encode(work());
        std::memcpy(page, bytes.data(), std::min(bytes.size(), kPageBytes - 2));
      },
      limits);
  Verdict verdict = decode(static_cast<const char *>(page));
  munmap(page, kPageBytes);
  if (!reason.empty())
    verdict.kind = "crash", verdict.details = reason;
  return verdict;
}

} // namespace reprise::fuzz
