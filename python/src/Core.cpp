// reprise: the C API in Python: sessions, compilations, plans, bundles
#include "Core.h"
#include "Policy.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <optional>
#include <thread>

using namespace reprise_python;

void reprise_python::check(reprise_error *error) {
  if (!error)
    return;
  std::unique_ptr<reprise_error, Destroy<reprise_error_destroy>> owned(error);
  nb::object made = nb::module_::import_("reprise._errors")
                        .attr("make")(static_cast<int>(reprise_error_get_code(error)),
                                      reprise_error_message(error), reprise_error_file(error),
                                      reprise_error_line(error), reprise_error_column(error),
                                      reprise_error_text(error), reprise_error_least_budget(error));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(made.ptr())), made.ptr());
  throw nb::python_error();
}

OptionsHandle reprise_python::makeOptions(const Options &options) {
  OptionsHandle made(reprise_options_create());
  for (const auto &[key, value] : options)
    check(reprise_options_set(made.get(), key.c_str(), value.c_str()));
  return made;
}

Session::Session() {
  reprise_session *session = nullptr;
  check(reprise_session_create(&session));
  handle.reset(session);
  reprise_session_set_diagnostics(session, hear, this);
}

Session::~Session() = default;

void Session::hear(void *user, const reprise_diagnostic *diagnostic) {
  auto *session = static_cast<Session *>(user);
  if (diagnostic->severity != REPRISE_WARNING)
    return;
  std::lock_guard<std::mutex> lock(session->mutex);
  std::string place = diagnostic->file;
  if (!place.empty())
    place +=
        ":" + std::to_string(diagnostic->line) + ":" + std::to_string(diagnostic->column) + ": ";
  session->warnings.push_back(place + diagnostic->message);
}

void Session::warn() {
  std::vector<std::string> told = std::move(warnings);
  warnings.clear();
  for (const std::string &text : told)
    nb::module_::import_("reprise._errors").attr("warn")(text);
}

void Session::addPolicy(const std::string &name, nb::object callable) {
  auto policy = std::make_unique<Policy>(name, std::move(callable));
  check(reprise_session_add_policy(get(), name.c_str(), &policy->table(), policy.get()));
  policies.push_back(std::move(policy));
}

nb::object Session::releasePolicies() {
  nb::object raised;
  for (auto &policy : policies) {
    policy->release();
    if (policy->exception.is_valid())
      raised = std::exchange(policy->exception, nb::object());
  }
  return raised;
}

namespace {
struct Module {
  std::shared_ptr<Session> session;
  Handle<reprise_module, reprise_module_destroy> handle;
};

struct Compilation {
  std::shared_ptr<Session> session;
  Handle<reprise_compilation, reprise_compilation_destroy> handle;
};

using PlanHandle = Handle<reprise_plan, reprise_plan_destroy>;

/// A call of the compiler on a thread of its own, so that the caller's can look for interrupts.
class Work {
public:
  Work(Session &session, std::function<reprise_error *()> call)
      : session(session), call(std::move(call)) {}

  /// Waits, and lets `progress`, None or a callable, know of the phases.
  reprise_error *run(const nb::object &progress);

private:
  static int follow(void *user, const char *phase) {
    auto *work = static_cast<Work *>(user);
    work->phase = phase;
    return work->cancelled;
  }
  void wait(const nb::object &progress);

  Session &session;
  std::function<reprise_error *()> call;
  std::atomic<const char *> phase{""};
  std::atomic<bool> cancelled{false};
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
};
} // namespace

/// The texts of phases are literals of the compiler.
void Work::wait(const nb::object &progress) {
  const char *told = "";
  while (true) {
    bool done;
    {
      nb::gil_scoped_release release;
      std::unique_lock<std::mutex> lock(mutex);
      done = changed.wait_for(lock, std::chrono::milliseconds(30), [this] { return isDone; });
    }
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
    const char *now = phase;
    if (!progress.is_none() && now != told)
      progress(nb::str(now));
    told = now;
    if (done)
      return;
  }
}

reprise_error *Work::run(const nb::object &progress) {
  reprise_error *error = nullptr;
  reprise_session_set_progress(session.get(), follow, this);
  std::thread thread([&] {
    error = call();
    std::lock_guard<std::mutex> lock(mutex);
    isDone = true;
    changed.notify_all();
  });
  auto finish = [&] {
    nb::gil_scoped_release release;
    thread.join();
    reprise_session_set_progress(session.get(), nullptr, nullptr);
  };
  try {
    wait(progress);
  } catch (...) {
    cancelled = true;
    finish();
    session.releasePolicies();
    reprise_error_destroy(error);
    throw;
  }
  finish();
  return error;
}

static Compilation compile(Module &module, const Options &options, const nb::object &progress) {
  OptionsHandle given = makeOptions(options);
  Compilation made{module.session, nullptr};
  Work work(*module.session, [&] {
    reprise_compilation *compilation = nullptr;
    reprise_error *error = reprise_compile(module.handle.get(), given.get(), &compilation);
    made.handle.reset(compilation);
    return error;
  });
  reprise_error *error = work.run(progress);
  if (nb::object raised = module.session->releasePolicies(); raised.is_valid()) {
    reprise_error_destroy(error);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(raised.ptr())), raised.ptr());
    throw nb::python_error();
  }
  check(error);
  module.session->warn();
  return made;
}

static Module parse(std::shared_ptr<Session> session, nb::bytes text, const std::string &name) {
  reprise_module *module = nullptr;
  check(reprise_module_parse(session->get(), text.c_str(), text.size(), name.c_str(), &module));
  Module made{std::move(session), nullptr};
  made.handle.reset(module);
  made.session->warn();
  return made;
}

static Module importStableHlo(std::shared_ptr<Session> session, nb::bytes text,
                              const std::string &name, size_t parameters) {
  reprise_module *module = nullptr;
  check(reprise_module_import_stablehlo(session->get(), text.c_str(), text.size(), name.c_str(),
                                        parameters, &module));
  Module made{std::move(session), nullptr};
  made.handle.reset(module);
  made.session->warn();
  return made;
}

static PlanHandle planProblem(Session &session, const std::string &kind, const std::string &problem,
                              const Options &options) {
  OptionsHandle given = makeOptions(options);
  PlanHandle made;
  Work work(session, [&] {
    reprise_plan *plan = nullptr;
    reprise_error *error = reprise_plan_problem(session.get(), kind.c_str(), problem.data(),
                                                problem.size(), given.get(), &plan);
    made.reset(plan);
    return error;
  });
  check(work.run(nb::none()));
  return made;
}

static std::optional<std::string> orNone(const char *text) {
  return text ? std::optional<std::string>(text) : std::nullopt;
}

static void bindCompilations(nb::module_ &module) {
  nb::class_<Module>(module, "Module")
      .def("text", [](Module &own) { return reprise_module_text(own.handle.get()); })
      .def("compile", compile, nb::arg("options"), nb::arg("progress").none());
  nb::class_<Compilation>(module, "Compilation")
      .def("report",
           [](Compilation &own, const std::string &format) {
             return orNone(reprise_compilation_report(own.handle.get(), format.c_str()));
           })
      .def("plan", [](Compilation &own) { return reprise_compilation_plan(own.handle.get()); })
      .def("explain",
           [](Compilation &own, const std::string &value) {
             return orNone(reprise_compilation_explain(own.handle.get(), value.c_str()));
           })
      .def("fits", [](Compilation &own) { return reprise_compilation_fits(own.handle.get()) != 0; })
      .def("bundle", [](Compilation &own) {
        reprise_bundle *bundle = nullptr;
        check(reprise_compilation_get_bundle(own.handle.get(), &bundle));
        Bundle made{own.session, nullptr};
        made.handle.reset(bundle);
        return made;
      });
}

static void bindSessions(nb::module_ &module) {
  nb::class_<Session>(module, "Session")
      .def("__init__", [](Session *own) { new (own) Session; })
      .def("add_policy", &Session::addPolicy);
  module.def("parse", parse);
  module.def("import_stablehlo", importStableHlo);
  module.def("plan_problem", [](Session &session, const std::string &kind,
                                const std::string &problem, const Options &options) {
    PlanHandle plan = planProblem(session, kind, problem, options);
    std::vector<std::string> solutions;
    for (size_t i = 0; i < reprise_plan_count(plan.get()); ++i)
      solutions.push_back(reprise_plan_solution(plan.get(), i));
    return std::make_pair(std::string(reprise_plan_summary(plan.get())), solutions);
  });
  module.def("read_bundle", [](std::shared_ptr<Session> session, nb::bytes data) {
    reprise_bundle *bundle = nullptr;
    check(reprise_bundle_read(session->get(), data.c_str(), data.size(), &bundle));
    Bundle made{std::move(session), nullptr};
    made.handle.reset(bundle);
    return made;
  });
  module.def("load_bundle", [](std::shared_ptr<Session> session, const std::string &path) {
    reprise_bundle *bundle = nullptr;
    check(reprise_bundle_load(session->get(), path.c_str(), &bundle));
    Bundle made{std::move(session), nullptr};
    made.handle.reset(bundle);
    return made;
  });
}

static void bindBundles(nb::module_ &module) {
  nb::class_<Bundle>(module, "Bundle")
      .def("description", [](Bundle &own) { return reprise_bundle_description(own.handle.get()); })
      .def("save",
           [](Bundle &own, const std::string &path) {
             check(reprise_bundle_save(own.handle.get(), path.c_str()));
           })
      .def("bytes", [](Bundle &own) {
        size_t size = 0;
        const void *data = reprise_bundle_bytes(own.handle.get(), &size);
        return nb::bytes(data, size);
      });
}

NB_MODULE(_core, module) {
  // PyTorch keeps compiled code, and with it programs, to the end of the process.
  nanobind::set_leak_warnings(false);
  module.attr("version") = reprise_compiler_version();
  module.attr("api_version") = reprise_version();
  bindSessions(module);
  bindBundles(module);
  bindCompilations(module);
  bindCalls(module);
  bindRuns(module);
}
