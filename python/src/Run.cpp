// reprise: the C API in Python: runs on arrays of the caller
#include "Core.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>

using namespace reprise_python;

namespace {
using Array = nb::ndarray<>;
using ReadOnlyArray = nb::ndarray<nb::ro>;

/// DLTensor on memory of an array, with the data that it points to.
struct View {
  DLTensor tensor = {};
  std::vector<int64_t> shape, strides;

  bool isAt(const View &other) const {
    return tensor.data == other.tensor.data && shape == other.shape && strides == other.strides;
  }
};

/// Array of the caller. Its memory may move while it is bound: `array` is its last known state.
struct Bound {
  nb::object object;
  Array array;
  bool isBrain = false;
};

/// Run, and the arrays that it uses.
struct Run {
  std::shared_ptr<Session> session;
  Handle<reprise_run, reprise_run_destroy> handle;
  std::map<std::string, Bound> bound;
};
} // namespace

/// Returns a view of an array. NumPy has no bf16: such arguments may come as uint16, as in .npy
/// files.
template <typename T> static View viewOf(T &array, bool isBrain) {
  View view;
  for (size_t i = 0; i < array.ndim(); ++i) {
    view.shape.push_back(static_cast<int64_t>(array.shape(i)));
    view.strides.push_back(array.stride(i));
  }
  view.tensor.data = const_cast<void *>(static_cast<const void *>(array.data()));
  view.tensor.device.device_type = static_cast<DLDeviceType>(array.device_type());
  view.tensor.device.device_id = array.device_id();
  view.tensor.ndim = static_cast<int32_t>(array.ndim());
  nb::dlpack::dtype type = array.dtype();
  view.tensor.dtype.code = type.code;
  view.tensor.dtype.bits = type.bits;
  view.tensor.dtype.lanes = type.lanes;
  if (isBrain && type.code == kDLUInt && type.bits == 16)
    view.tensor.dtype.code = kDLBfloat;
  view.tensor.shape = view.shape.data();
  view.tensor.strides = view.strides.data();
  return view;
}

static Run makeRun(Bundle &bundle, const Options &options) {
  OptionsHandle given = makeOptions(options);
  reprise_run *run = nullptr;
  reprise_error *error = nullptr;
  {
    nb::gil_scoped_release release;
    error = reprise_run_create(bundle.handle.get(), given.get(), &run);
  }
  check(error);
  Run made{bundle.session, nullptr, {}};
  made.handle.reset(run);
  return made;
}

/// Returns true if steps can use the array in place. A caller who lends an array keeps it in place
/// until the part of the step that reads it has ended.
static bool lendArray(Run &run, const std::string &name, Array array, bool isBrain) {
  View view = viewOf(array, isBrain);
  int isCopied = 0;
  check(reprise_run_bind(run.handle.get(), name.c_str(), &view.tensor, &isCopied));
  return !isCopied;
}

/// Lends memory and a stream by their addresses. The caller keeps the memory until the step's work
/// is done.
static void setMemory(Run &run, uintptr_t memory, uint64_t bytes, uintptr_t stream) {
  check(reprise_run_set_memory(run.handle.get(), reinterpret_cast<void *>(memory), bytes,
                               reinterpret_cast<void *>(stream)));
}

static bool bindArray(Run &run, const std::string &name, nb::object object, bool isBrain) {
  Array array;
  if (!nb::try_cast(object, array))
    throw nb::type_error(("cannot bind '" + name +
                          "': expected an array that can be written to, "
                          "with __dlpack__ or a buffer, got " +
                          nb::cast<std::string>(object.type().attr("__name__")))
                             .c_str());
  bool isInPlace = lendArray(run, name, array, isBrain);
  run.bound[name] = {std::move(object), std::move(array), isBrain};
  return isInPlace;
}

/// Binds arrays again whose memory has moved, since it was freed, resized or replaced.
static void renewArrays(Run &run) {
  for (auto &[name, bound] : run.bound) {
    auto now = nb::cast<Array>(bound.object);
    if (!viewOf(now, bound.isBrain).isAt(viewOf(bound.array, bound.isBrain)))
      lendArray(run, name, now, bound.isBrain);
    bound.array = std::move(now);
  }
}

static void giveArray(Run &run, const std::string &name, ReadOnlyArray array, bool isBrain) {
  View view = viewOf(array, isBrain);
  check(reprise_run_give(run.handle.get(), name.c_str(), &view.tensor));
}

template <typename Call> static void callAlone(Run &run, Call call) {
  reprise_error *error = nullptr;
  renewArrays(run);
  {
    nb::gil_scoped_release release;
    error = call();
  }
  check(error);
}

/// Returns a view of a result; bf16 comes as uint16, since NumPy has no bf16.
static nb::object viewResult(nb::handle self, const std::string &name) {
  Run &run = nb::cast<Run &>(self);
  renewArrays(run);
  DLTensor tensor = {};
  check(reprise_run_result(run.handle.get(), name.c_str(), &tensor));
  std::vector<size_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  bool isBrain = tensor.dtype.code == kDLBfloat, isHost = tensor.device.device_type == kDLCPU;
  nb::dlpack::dtype type = {tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes};
  if (isBrain && isHost)
    type.code = kDLUInt;
  if (isHost)
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(tensor.data, shape.size(), shape.data(), self,
                                                   nullptr, type));
  return nb::cast(nb::ndarray<nb::array_api>(tensor.data, shape.size(), shape.data(), self, nullptr,
                                             type, tensor.device.device_type,
                                             tensor.device.device_id));
}

/// Takes a result, as an array with `__dlpack__` that owns its memory.
static nb::object takeResult(Run &run, const std::string &name) {
  DLTensor tensor = {};
  reprise_memory *memory = nullptr;
  renewArrays(run);
  check(reprise_run_take_result(run.handle.get(), name.c_str(), &tensor, &memory));
  nb::capsule owner(memory, [](void *taken) noexcept {
    reprise_memory_destroy(static_cast<reprise_memory *>(taken));
  });
  std::vector<size_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  return nb::cast(nb::ndarray<nb::array_api>(
      tensor.data, shape.size(), shape.data(), owner, nullptr,
      nb::dlpack::dtype{tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes}, kDLCPU, 0));
}

void reprise_python::bindRuns(nb::module_ &module) {
  nb::class_<Run>(module, "Run")
      .def("bind", bindArray)
      .def("lend", lendArray)
      .def("give", giveArray)
      .def("set_memory", setMemory)
      .def("memory_bytes", [](Run &own) { return reprise_run_memory_bytes(own.handle.get()); })
      .def("view", viewResult)
      .def("take", takeResult)
      .def("set_names",
           [](Run &own, const std::string &path) {
             check(reprise_run_set_names(own.handle.get(), path.c_str()));
           })
      .def("save_folder",
           [](Run &own, const std::string &path, uint64_t shardBytes, bool isBehind) {
             callAlone(own, [&] {
               return reprise_run_save_folder(own.handle.get(), path.c_str(), shardBytes, isBehind);
             });
           })
      .def("finish_save",
           [](Run &own) {
             callAlone(own, [&] { return reprise_run_finish_save(own.handle.get()); });
           })
      .def("give_folder",
           [](Run &own, const std::string &path) {
             check(reprise_run_give_folder(own.handle.get(), path.c_str()));
           })
      .def("set_state",
           [](Run &own, int64_t seed, int64_t offset, int64_t step) {
             reprise_run_state state = {seed, offset, step};
             check(reprise_run_set_state(own.handle.get(), &state));
           })
      .def("state",
           [](Run &own) {
             reprise_run_state state = {};
             reprise_run_get_state(own.handle.get(), &state);
             return std::make_tuple(state.seed, state.offset, state.step);
           })
      .def("start",
           [](Run &own, int64_t steps) {
             callAlone(own, [&] { return reprise_run_start(own.handle.get(), steps); });
           })
      .def("step",
           [](Run &own) { callAlone(own, [&] { return reprise_run_step(own.handle.get()); }); })
      .def("begin_step",
           [](Run &own) {
             callAlone(own, [&] { return reprise_run_begin_step(own.handle.get()); });
           })
      .def("end_step",
           [](Run &own) { callAlone(own, [&] { return reprise_run_end_step(own.handle.get()); }); })
      .def("loss",
           [](Run &own) {
             double loss = 0;
             renewArrays(own);
             check(reprise_run_loss(own.handle.get(), &loss));
             return loss;
           })
      .def("hash", [](Run &own) {
        renewArrays(own);
        const char *hash = nullptr;
        check(reprise_run_hash(own.handle.get(), &hash));
        return std::string(hash);
      });
  module.def("make_run", makeRun);
}
