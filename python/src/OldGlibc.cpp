// This file replaces functions that the wheel's two libraries would need from a glibc newer than
// 2.27, the oldest supported one. It is linked only into these libraries, and hidden there, so that
// no other code in a process sees its functions.
#if defined(__x86_64__) && defined(__linux__)
#include <cstddef>
#include <ctime>
#include <sys/random.h>

// A function in its own section, which the linker drops if no code calls it.
#define FUNCTION(name, body)                                                                       \
  asm(".section .text." #name ",\"ax\",@progbits\n"                                                \
      ".globl " #name "\n.hidden " #name "\n.type " #name ",@function\n" #name ":\n" body          \
      ".size " #name ", . - " #name "\n.previous\n")

// Functions that a later glibc has moved or improved, and still has under their first version. The
// jump leaves no frame, so that dlopen sees the original caller.
#define FORWARD(name, version)                                                                     \
  FUNCTION(name, "jmp *old_" #name "@GOTPCREL(%rip)\n.symver old_" #name "," #name "@" version "\n")

FORWARD(exp, "GLIBC_2.2.5");
FORWARD(exp2, "GLIBC_2.2.5");
FORWARD(log, "GLIBC_2.2.5");
FORWARD(log2, "GLIBC_2.2.5");
FORWARD(pow, "GLIBC_2.2.5");
FORWARD(dladdr, "GLIBC_2.2.5");
FORWARD(dlclose, "GLIBC_2.2.5");
FORWARD(dlerror, "GLIBC_2.2.5");
FORWARD(dlopen, "GLIBC_2.2.5");
FORWARD(dlsym, "GLIBC_2.2.5");
FORWARD(__pthread_key_create, "GLIBC_2.2.5");
FORWARD(pthread_attr_setstacksize, "GLIBC_2.2.5");
FORWARD(pthread_create, "GLIBC_2.2.5");
FORWARD(pthread_detach, "GLIBC_2.2.5");
FORWARD(pthread_getspecific, "GLIBC_2.2.5");
FORWARD(pthread_join, "GLIBC_2.2.5");
FORWARD(pthread_key_create, "GLIBC_2.2.5");
FORWARD(pthread_key_delete, "GLIBC_2.2.5");
FORWARD(pthread_mutex_trylock, "GLIBC_2.2.5");
FORWARD(pthread_once, "GLIBC_2.2.5");
FORWARD(pthread_rwlock_rdlock, "GLIBC_2.2.5");
FORWARD(pthread_rwlock_unlock, "GLIBC_2.2.5");
FORWARD(pthread_rwlock_wrlock, "GLIBC_2.2.5");
FORWARD(pthread_setname_np, "GLIBC_2.12");
FORWARD(pthread_setspecific, "GLIBC_2.2.5");
FORWARD(pthread_sigmask, "GLIBC_2.2.5");

// Before 2.33 the headers inline these functions. The first argument is the version of the struct.
FUNCTION(stat, "mov %rsi, %rdx\nmov %rdi, %rsi\nmov $1, %edi\njmp *__xstat@GOTPCREL(%rip)\n");
FUNCTION(lstat, "mov %rsi, %rdx\nmov %rdi, %rsi\nmov $1, %edi\njmp *__lxstat@GOTPCREL(%rip)\n");
FUNCTION(fstat, "mov %rsi, %rdx\nmov %edi, %esi\nmov $1, %edi\njmp *__fxstat@GOTPCREL(%rip)\n");

// Functions that older glibcs lack. In C++ they have other names, since headers may declare the
// original names.
#define HIDDEN(name) asm(#name) __attribute__((visibility("hidden")))

extern "C" {
struct OldUsage {
  int words[10];
};
OldUsage readUsage() asm("mallinfo");
struct Usage {
  std::size_t words[10];
};

// LLVM's statistics read it. Beyond 4 GiB the numbers of the old function wrap.
Usage getUsage() HIDDEN(mallinfo2);
Usage getUsage() {
  OldUsage old = readUsage();
  Usage usage;
  for (int i = 0; i < 10; ++i)
    usage.words[i] = static_cast<unsigned>(old.words[i]);
  return usage;
}

// The C++ library's source of random numbers.
unsigned drawBits() HIDDEN(arc4random);
unsigned drawBits() {
  unsigned bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}

// This flag tells whether reference counts may avoid atomics: never.
extern char isSingleThreaded HIDDEN(__libc_single_threaded);
char isSingleThreaded = 0;

int waitUntil(void *condition, void *mutex, const timespec *until) asm("pthread_cond_timedwait");

// Waits by another clock than the wall clock: converts the rest of the time to the wall clock. If
// the wall clock is set meanwhile, the wait is shorter or longer, which callers allow for.
int waitByClock(void *condition, void *mutex, clockid_t clock, const timespec *until)
    HIDDEN(pthread_cond_clockwait);
int waitByClock(void *condition, void *mutex, clockid_t clock, const timespec *until) {
  timespec now, day;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  day.tv_sec += until->tv_sec - now.tv_sec;
  day.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (day.tv_nsec < 0) {
    day.tv_nsec += 1000000000;
    --day.tv_sec;
  } else if (day.tv_nsec >= 1000000000) {
    day.tv_nsec -= 1000000000;
    ++day.tv_sec;
  }
  return waitUntil(condition, mutex, &day);
}
}
#endif
