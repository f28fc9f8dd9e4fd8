// What the wheel's two libraries would need of a glibc newer than 2.27, the one that they shall run
// on. It is linked into them alone, and hidden there, so that nothing else in a process sees these.
#if defined(__x86_64__) && defined(__linux__)
#include <cstddef>
#include <ctime>
#include <sys/random.h>

// A function of its own section, which the linker drops where nobody calls it.
#define FUNCTION(name, body)                                                                       \
  asm(".section .text." #name ",\"ax\",@progbits\n"                                                \
      ".globl " #name "\n.hidden " #name "\n.type " #name ",@function\n" #name ":\n" body          \
      ".size " #name ", . - " #name "\n.previous\n")

// Functions that a later glibc has moved or bettered, and still has under their first version. The
// jump leaves no frame behind, so that dlopen sees who has called it.
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

// Before 2.33 these are inlined by the headers. The first argument is the version of the struct.
FUNCTION(stat, "mov %rsi, %rdx\nmov %rdi, %rsi\nmov $1, %edi\njmp *__xstat@GOTPCREL(%rip)\n");
FUNCTION(lstat, "mov %rsi, %rdx\nmov %rdi, %rsi\nmov $1, %edi\njmp *__lxstat@GOTPCREL(%rip)\n");
FUNCTION(fstat, "mov %rsi, %rdx\nmov %edi, %esi\nmov $1, %edi\njmp *__fxstat@GOTPCREL(%rip)\n");

// Functions that older glibcs lack. In C++ they have other names, since headers may declare these.
#define HIDDEN(name) asm(#name) __attribute__((visibility("hidden")))

extern "C" {
struct OldUsage {
  int words[10];
};
OldUsage readUsage() asm("mallinfo");
struct Usage {
  std::size_t words[10];
};

// LLVM's statistics read it. Beyond 4 GiB the old one's numbers wrap.
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

// Whether counts of references can do without atomics: never.
extern char isSingleThreaded HIDDEN(__libc_single_threaded);
char isSingleThreaded = 0;

int waitUntil(void *condition, void *mutex, const timespec *until) asm("pthread_cond_timedwait");

// Waits by another clock than that of the day: what is left of the time is counted from now on. If
// somebody sets the time of the day meanwhile, it is shorter or longer, which callers allow for.
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
