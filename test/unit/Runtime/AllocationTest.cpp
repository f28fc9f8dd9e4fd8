// reprise: a step allocates nothing: every allocation function of this program counts
#include "TestBundle.h"
#include "reprise/Runtime/Session.h"

#include "gtest/gtest.h"
#include <atomic>
#include <cerrno>

#if defined(__SANITIZE_ADDRESS__)
#define REPRISE_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REPRISE_OWN_MALLOC 0
#else
#define REPRISE_OWN_MALLOC 1
#endif
#else
#define REPRISE_OWN_MALLOC 1
#endif

// A sanitizer has an allocator of its own, which cannot be replaced.
#if REPRISE_OWN_MALLOC

static std::atomic<uint64_t> allocations{0};

// operator new calls malloc, so that these functions see all allocations.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void *memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **into, size_t alignment, size_t size) {
  *into = memalign(alignment, size);
  return *into ? 0 : ENOMEM;
}
}

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

TEST(Allocation, TheCounterCounts) {
  uint64_t before = allocations;
  // A direct call: the compiler may leave a new-expression out.
  void *block = ::operator new(16);
  uint64_t after = allocations;
  ::operator delete(block);
  EXPECT_EQ(after, before + 1);
}

TEST(Allocation, AStepAllocatesNothing) {
  for (unsigned threads : {1, 2, 5}) {
    auto executable = Executable::create(trainingBundle(10000), "m.rpb", threads);
    ASSERT_TRUE(bool(executable));
    Recorder recorder(5, threads);
    Session session(**executable);
    ASSERT_FALSE(bool(session.start(20)));
    for (unsigned step = 0; step < 20; ++step) {
      (*executable)->setRecorder(step < 10 ? nullptr : &recorder);
      uint64_t before = allocations;
      Error error = session.step();
      uint64_t after = allocations;
      ASSERT_FALSE(bool(error));
      EXPECT_EQ(after, before) << threads << " threads, step " << step;
    }
  }
}

} // namespace

#endif // REPRISE_OWN_MALLOC
