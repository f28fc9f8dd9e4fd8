/* Policy plugins that are broken in one way each, by -DWAY=N. */
#include <reprise-c/Policy.h>
#include <stdlib.h>
#include <unistd.h>

static rp_status decide(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels, size_t count) {
  (void)self, (void)graph;
#if WAY == 1
  host->fail(host->context, (rp_string){"no mood", 7});
  return RP_ERROR;
#elif WAY == 2
  labels[count - 1] = 77;
#elif WAY == 3
  labels[count] = RP_MUST_SAVE;
#elif WAY == 10
  exit(0);
#elif WAY == 11
  abort();
#elif WAY == 12
  *(volatile char *)0 = 0;
#elif WAY == 13
  for (volatile int i = 0;; i = i + 1) {
  }
#elif WAY == 14
  quick_exit(0);
#elif WAY == 15
  _exit(0);
#elif WAY == 18 /* the answer never arrives, and another process holds the pipe */
  if (fork() == 0)
    sleep(600);
  _exit(0);
#elif WAY == 19
  sleep(600);
#elif WAY == 20 /* both copies continue */
  fork();
#elif WAY == 21
  labels[0] = RP_PREFER_SAVE;
#elif WAY == 22
  host->fail(host->context, (rp_string){0, 4});
  return RP_ERROR;
#endif
  (void)host, (void)labels, (void)count;
  return RP_OK;
}

#if WAY == 21
static rp_status explain(void *self, uint32_t op, rp_string *reason) {
  (void)self, (void)op;
  *reason = (rp_string){0, 4};
  return RP_OK;
}
#endif

static rp_status create(const rp_host *host, rp_string options, void **self) {
  (void)options, (void)self;
#if WAY == 4
  host->fail(host->context, (rp_string){"no licence", 10});
  return RP_ERROR;
#endif
  (void)host;
  return RP_OK;
}

static const rp_policy policy = {
#if WAY == 5
    .struct_size = offsetof(rp_policy, decide),
#elif WAY == 16
    .struct_size = offsetof(rp_policy, abi_minor),
#else
    .struct_size = sizeof(rp_policy),
#endif
    .abi_major = WAY == 6 ? RP_POLICY_ABI_MAJOR + 1 : RP_POLICY_ABI_MAJOR,
    .name = {"broken", 6},
    .create = create,
    .decide = WAY == 7 ? 0 : decide,
#if WAY == 21
    .explain = explain,
#endif
};

#if WAY != 9
const rp_policy *rpGetPolicy(uint32_t major, uint32_t minor) {
  (void)major, (void)minor, (void)policy;
  return WAY == 8 ? 0 : &policy;
}
#endif

/* A library may end the process before anyone asks it. */
#if WAY == 17
__attribute__((constructor)) static void leave(void) { exit(0); }
#endif
