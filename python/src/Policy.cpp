// reprise: policies that are Python callables
#include "Policy.h"

#include <nanobind/stl/string.h>

#include <algorithm>

using namespace reprise_python;

static nb::str toStr(rp_string text) { return nb::str(text.data, text.size); }

Policy::Policy(std::string name, nb::object callable)
    : name(std::move(name)), callable(std::move(callable)) {
  policy.struct_size = sizeof policy;
  policy.abi_major = RP_POLICY_ABI_MAJOR;
  policy.abi_minor = RP_POLICY_ABI_MINOR;
  policy.name = {this->name.data(), this->name.size()};
  policy.decide = decide;
  policy.explain = explain;
}

/// Lists the numbers of values, the operands of an op or its results; `most` becomes their maximum.
static nb::list listValues(const rp_host *host, const rp_graph *graph, uint32_t op, uint32_t count,
                           decltype(rp_host::operand) get, uint32_t &most) {
  nb::list numbers;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t value = 0;
    if (get(graph, op, i, &value) != RP_OK)
      throw nb::index_error("the graph has no value of this number");
    most = std::max(most, value + 1);
    numbers.append(value);
  }
  return numbers;
}

static nb::list describeOps(const rp_host *host, const rp_graph *graph, uint32_t &values) {
  nb::list ops;
  for (uint32_t op = 0; op < host->num_ops(graph); ++op) {
    rp_op_info info = {};
    info.struct_size = sizeof info;
    if (host->op_info(graph, op, &info) != RP_OK)
      throw nb::index_error("the graph has no op of this number");
    nb::list operands = listValues(host, graph, op, info.num_operands, host->operand, values);
    nb::list results = listValues(host, graph, op, info.num_results, host->result, values);
    ops.append(nb::make_tuple(toStr(info.op), toStr(info.scope), toStr(info.location), info.bytes,
                              info.flops, info.kinds, operands, results));
  }
  return ops;
}

static nb::list describeValues(const rp_host *host, const rp_graph *graph, uint32_t count) {
  nb::list values;
  for (uint32_t value = 0; value < count; ++value) {
    rp_value_info info = {};
    info.struct_size = sizeof info;
    if (host->value_info(graph, value, &info) != RP_OK)
      throw nb::index_error("the graph has no value of this number");
    nb::list shape, users, names;
    for (uint32_t i = 0; i < info.rank; ++i)
      shape.append(info.shape[i]);
    for (uint32_t i = 0; i < info.num_users; ++i) {
      uint32_t user = 0;
      host->user(graph, value, i, &user);
      users.append(user);
    }
    for (uint32_t i = 0; i < info.num_names; ++i) {
      rp_string text = {};
      host->name(graph, value, i, &text);
      names.append(toStr(text));
    }
    nb::object op = info.op == RP_NO_OP ? nb::none() : nb::object(nb::int_(info.op));
    values.append(
        nb::make_tuple(toStr(info.dtype), nb::tuple(shape), op, info.bytes, users, names));
  }
  return values;
}

void Policy::ask(const rp_host *host, const rp_graph *graph, uint8_t *labels, size_t count) {
  uint32_t numValues = 0;
  nb::list ops = describeOps(host, graph, numValues);
  nb::list answer = nb::cast<nb::list>(callable(ops, describeValues(host, graph, numValues)));
  reasons.assign(count, "");
  for (size_t i = 0; i < count; ++i) {
    nb::tuple entry = nb::cast<nb::tuple>(answer[i]);
    labels[i] = nb::cast<uint8_t>(entry[0]);
    reasons[i] = nb::cast<std::string>(entry[1]);
  }
}

/// Calls the policy on a thread of the compiler; no exception may leave it.
rp_status Policy::decide(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                         size_t count) {
  auto *policy = static_cast<Policy *>(self);
  nb::gil_scoped_acquire gil;
  std::string what;
  try {
    policy->ask(host, graph, labels, count);
    return RP_OK;
  } catch (nb::python_error &error) {
    what = nb::cast<std::string>(nb::str(error.value()));
    policy->exception = nb::borrow(error.value());
  } catch (std::exception &error) {
    what = error.what();
  }
  host->fail(host->context, {what.data(), what.size()});
  return RP_ERROR;
}

rp_status Policy::explain(void *self, uint32_t op, rp_string *reason) {
  const std::vector<std::string> &reasons = static_cast<Policy *>(self)->reasons;
  if (op >= reasons.size())
    return RP_ERROR;
  *reason = {reasons[op].data(), reasons[op].size()};
  return RP_OK;
}
