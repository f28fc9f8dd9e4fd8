/* A policy plugin in C11: saves contractions but for every n-th (2, or the option "every"), and
 * computes the rest again. Draws are saved where the option "keep_draws" asks for it.
 *
 *   cc -std=c11 -shared -fPIC -I PREFIX/include every-other.c -o every-other.so
 *   reprise-compile model.mlir -o model.rpb --policy='plugin:./every-other.so{"every": 3}' */
#include <reprise-c/Policy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
  long every;
  int keep_draws;
} state;

static void fail(const rp_host *host, const char *message) {
  host->fail(host->context, (rp_string){message, strlen(message)});
}

/* The text behind "key": in a flat JSON object; null if there is none. */
static const char *find(const char *options, const char *key) {
  const char *at = strstr(options, key);
  return at ? strchr(at, ':') : NULL;
}

static rp_status create(const rp_host *host, rp_string options, void **self) {
  char text[256] = {0};
  state *made = malloc(sizeof(state));
  if (!made || options.size >= sizeof(text)) {
    free(made);
    fail(host, "too many options");
    return RP_ERROR;
  }
  memcpy(text, options.data, options.size);
  const char *every = find(text, "\"every\""), *draws = find(text, "\"keep_draws\"");
  made->every = every ? strtol(every + 1, NULL, 10) : 2;
  made->keep_draws = draws && strstr(draws, "true") != NULL;
  if (made->every < 1) {
    free(made);
    fail(host, "'every' must be positive");
    return RP_ERROR;
  }
  *self = made;
  return RP_OK;
}

static void destroy(void *self) { free(self); }

static rp_status decide(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                        size_t num_ops) {
  const state *given = self;
  long contractions = 0;
  for (size_t op = 0; op < num_ops; ++op) {
    rp_op_info info = {.struct_size = sizeof(info)};
    if (host->op_info(graph, (uint32_t)op, &info) != RP_OK)
      return RP_ERROR;
    labels[op] = RP_PREFER_RECOMPUTE;
    if (info.kinds & RP_KIND_CONTRACTION && ++contractions % given->every != 0)
      labels[op] = RP_PREFER_SAVE;
    if (info.kinds & RP_KIND_RANDOM && given->keep_draws)
      labels[op] = RP_MUST_SAVE;
  }
  return RP_OK;
}

static const rp_policy policy = {
    .struct_size = sizeof(rp_policy),
    .abi_major = RP_POLICY_ABI_MAJOR,
    .abi_minor = RP_POLICY_ABI_MINOR,
    .name = {"every-other", 11},
    .version = {"1.0", 3},
    .create = create,
    .destroy = destroy,
    .decide = decide,
};

const rp_policy *rpGetPolicy(uint32_t host_major, uint32_t host_minor) {
  (void)host_minor;
  return host_major == RP_POLICY_ABI_MAJOR ? &policy : NULL;
}
