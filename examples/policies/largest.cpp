// A policy plugin in C++: computes the values again that free most bytes, until half of all bytes
// are gone, and says of each how large it is. Results with several readers are kept.
//
//   c++ -std=c++17 -shared -fPIC -I PREFIX/include largest.cpp -o largest.so
//   reprise-compile model.mlir -o model.rpb --policy=plugin:./largest.so
#include <reprise-c/Policy.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace {

struct Largest {
  std::map<std::uint32_t, std::string> reasons;
};

struct Candidate {
  std::uint64_t bytes;
  std::uint32_t op;
};

std::uint32_t countReaders(const rp_host *host, const rp_graph *graph, std::uint32_t op,
                           const rp_op_info &info) {
  std::uint32_t readers = 0;
  for (std::uint32_t i = 0; i < info.num_results; ++i) {
    std::uint32_t value = 0;
    rp_value_info about = {};
    about.struct_size = sizeof(about);
    if (host->result(graph, op, i, &value) == RP_OK &&
        host->value_info(graph, value, &about) == RP_OK)
      readers += about.num_users;
  }
  return readers;
}

rp_status create(const rp_host *, rp_string, void **self) {
  *self = new Largest();
  return RP_OK;
}

void destroy(void *self) { delete static_cast<Largest *>(self); }

rp_status decide(void *self, const rp_host *host, const rp_graph *graph, std::uint8_t *labels,
                 std::size_t count) {
  std::vector<Candidate> candidates;
  std::uint64_t total = 0;
  for (std::uint32_t op = 0; op < count; ++op) {
    rp_op_info info = {};
    info.struct_size = sizeof(info);
    if (host->op_info(graph, op, &info) != RP_OK)
      return RP_ERROR;
    total += info.bytes;
    labels[op] = RP_PREFER_SAVE;
    if (countReaders(host, graph, op, info) < 2)
      candidates.push_back({info.bytes, op});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.op < b.op;
  });
  std::uint64_t freed = 0;
  for (const Candidate &candidate : candidates) {
    if (2 * freed >= total)
      break;
    freed += candidate.bytes;
    labels[candidate.op] = RP_PREFER_RECOMPUTE;
    static_cast<Largest *>(self)->reasons[candidate.op] =
        std::to_string(candidate.bytes) + " bytes";
  }
  return RP_OK;
}

rp_status explain(void *self, std::uint32_t op, rp_string *reason) {
  auto &reasons = static_cast<Largest *>(self)->reasons;
  if (auto found = reasons.find(op); found != reasons.end())
    *reason = {found->second.data(), found->second.size()};
  return RP_OK;
}

const rp_policy policy = {sizeof(rp_policy),
                          RP_POLICY_ABI_MAJOR,
                          RP_POLICY_ABI_MINOR,
                          {"largest", 7},
                          {"1.0", 3},
                          create,
                          destroy,
                          decide,
                          explain};

} // namespace

const rp_policy *rpGetPolicy(std::uint32_t major, std::uint32_t) {
  return major == RP_POLICY_ABI_MAJOR ? &policy : nullptr;
}
