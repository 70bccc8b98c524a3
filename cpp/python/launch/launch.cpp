// SPDX-License-Identifier: Apache-2.0
// The function `launch`.
#include "python/launch/launch.hpp"

#include <string>
#include <type_traits>

#include "python/arguments/pack.hpp"
#include "python/calls.hpp"
#include "python/errors.hpp"
#include "python/launch/launch_config.hpp"

namespace halfwarp::python {
namespace {

constexpr char order[] = "the order is launch(stream, config, kernel, *kernel_args)";

// Asks the driver without the interpreter lock, since it may have to load the kernel first. The
// context is the stream's: the calling thread needs none for a launch.
const core::parameter_layout* load_layout(core::launch_plan& plan, PyObject* stream) noexcept {
  try {
    core::context_handle context;
    if (stream != nullptr) {
      context = core::context_of(fields_of<held_stream>(stream).borrow_open(stream));
    }
    const gil_release released;
    const core::current_scope scope{context ? context.raw() : core::raw_current_context()};
    return &plan.load_layout();
  } catch (...) {
    translate_exception();
    return nullptr;
  }
}

int wrong_count(const core::launch_plan& plan, std::size_t expected, std::size_t given) noexcept {
  try {
    const std::string name = plan.readable_name();
    PyErr_Format(PyExc_TypeError, "%s() expected %zu argument%s, got %zu", name.c_str(), expected,
                 expected == 1 ? "" : "s", given);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return -1;
}

// A stream that captures has nothing to wait for. The question itself may report an earlier fault.
CUresult wait_unless_capturing(const core::stream_ref& stream) noexcept {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult asked = driver::table->cuStreamIsCapturing(stream.raw(), &capture);
  const bool captures =
      asked == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || capture != CU_STREAM_CAPTURE_STATUS_NONE;
  if (captures) return CUDA_SUCCESS;
  if (asked != CUDA_SUCCESS) return asked;
  const gil_release released;
  return driver::table->cuStreamSynchronize(stream.raw());
}

// The arguments of a kernel, and one thing more unless it is null.
PyObject* tuple_of(PyObject* const* arguments, std::size_t count, PyObject* more) noexcept {
  const auto size = static_cast<Py_ssize_t>(count);
  PyObject* const made = PyTuple_New(size + (more != nullptr));
  if (made == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(made, i, Py_NewRef(arguments[i]));
  if (more != nullptr) PyTuple_SET_ITEM(made, size, Py_NewRef(more));
  return made;
}

PyObject* refuse_uninitialised(const char* class_name) noexcept {
  return PyErr_Format(PyExc_RuntimeError, "%s was not initialised", class_name);
}

// The attributes of one launch: copies, since another thread may assign to the configuration.
struct usual_attributes {
  // False with an exception set.
  bool take(const config_fields& config, CUlaunchConfig& native) noexcept {
    for (unsigned i = 0; i < native.numAttrs; ++i) values[i] = config.attributes[i];
    native.attrs = values;
    return true;
  }
  // What a graph has to keep of them; null: nothing.
  [[nodiscard]] static PyObject* kept() noexcept { return nullptr; }

  CUlaunchAttribute values[3];
};

class all_attributes {
 public:
  bool take(const config_fields& config, CUlaunchConfig& native) noexcept {
    further_ = reference::borrow(config.further);
    native.numAttrs = gather_attributes(config, further_.get(), values_);
    native.attrs = values_;
    return check_driver_knows(further_.get()) == 0;
  }
  [[nodiscard]] PyObject* kept() const noexcept { return further_.get(); }

 private:
  reference further_;
  CUlaunchAttribute values_[most_attributes];
};

PyObject* launch_carefully(PyObject* stream, PyObject* config, PyObject* kernel,
                           PyObject* const* arguments, std::size_t count) noexcept;

// First whatever may run code of Python, then the stream is borrowed: it may be closed by that.
template <class Attributes>
PyObject* launch_exactly(PyObject* stream_object, PyObject* config_object, PyObject* kernel_object,
                         PyObject* const* arguments, std::size_t count) noexcept {
  const auto& config = fields_of<config_fields>(config_object);
  const auto& kernel = fields_of<core::kernel_handle>(kernel_object);
  if constexpr (std::is_same_v<Attributes, usual_attributes>) {
    if (!config.is_plain) [[unlikely]]
      return launch_carefully(stream_object, config_object, kernel_object, arguments, count);
  }
  if (!kernel.is_open()) [[unlikely]]
    return refuse_uninitialised("Kernel");
  core::launch_plan& plan = *kernel.facts().plan;
  const auto function = reinterpret_cast<CUfunction>(kernel.raw());
  packing_rule rule;
  if (find_packing_rule(plan, stream_object, count, rule) < 0) return nullptr;
  call_arguments block;
  if (!block.prepare(count)) return PyErr_NoMemory();
  if (pack_all(arguments, &plan, rule.parameters, rule.step, block) < 0) return nullptr;
  if (block.ran_python() && check_buffers_open(arguments, count) < 0) return nullptr;
  const borrowed_stream stream = fields_of<held_stream>(stream_object).borrow(stream_object);
  if (!stream.is_open()) [[unlikely]]
    return refuse_closed_stream();
  Attributes attributes;
  CUlaunchConfig native = config.native;
  if (!attributes.take(config, native)) return nullptr;
  native.hStream = stream.raw();
  if (config.needs_care && take_care(config, native, stream, plan) < 0) return nullptr;
  const CUresult code = submit(native, stream, plan, function, block.pointers());
  if (!is_finished(code) &&
      finish(code, stream, kernel_object, arguments, count, attributes.kept()) < 0) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

// With more attributes than most launches have, or with a configuration that was not initialised.
[[gnu::noinline]] PyObject* launch_carefully(PyObject* stream, PyObject* config, PyObject* kernel,
                                             PyObject* const* arguments,
                                             std::size_t count) noexcept {
  if (!fields_of<config_fields>(config).is_valid) return refuse_uninitialised("LaunchConfig");
  return launch_exactly<all_attributes>(stream, config, kernel, arguments, count);
}

PyObject* wrong_argument(const char* name, const char* expected, PyObject* given) noexcept {
  PyErr_Format(PyExc_TypeError, "launch() argument '%s' must be a %s, got %s; %s", name, expected,
               Py_TYPE(given)->tp_name, order);
  return nullptr;
}

// A LaunchConfig, or one made of a dict of its keywords.
reference accept_config(PyObject* given) noexcept {
  if (is_instance<config_fields>(given)) return reference::borrow(given);
  if (!PyDict_Check(given)) return reference{wrong_argument("config", "LaunchConfig", given)};
  auto* const type = reinterpret_cast<PyObject*>(object_class<config_fields>::type);
  return call_with_keywords(type, given);
}

reference accept_stream(PyObject* given) noexcept {
  if (is_instance<held_stream>(given)) return reference::borrow(given);
  return reference{run_python([=] { return hooks.accept_stream(given); })};
}

// Every other combination of types: in the order in which errors are to be reported.
PyObject* launch_general(PyObject* stream, PyObject* config, PyObject* kernel,
                         PyObject* const* arguments, std::size_t count) noexcept {
  const reference accepted_config = accept_config(config);
  if (!accepted_config) return nullptr;
  if (!is_instance<core::kernel_handle>(kernel)) return wrong_argument("kernel", "Kernel", kernel);
  const reference accepted_stream = accept_stream(stream);
  if (!accepted_stream) return nullptr;
  return launch_exactly<usual_attributes>(accepted_stream.get(), accepted_config.get(), kernel,
                                          arguments, count);
}

// The first three parameters by name. False with TypeError set.
bool bind_keywords(PyObject* const* arguments, std::size_t count, PyObject* keywords,
                   PyObject* (&bound)[3]) noexcept {
  constexpr const char* names[] = {"stream", "config", "kernel"};
  for (std::size_t i = 0; i < count && i < 3; ++i) bound[i] = arguments[i];
  for (Py_ssize_t k = 0; keywords != nullptr && k < PyTuple_GET_SIZE(keywords); ++k) {
    PyObject* const keyword = PyTuple_GET_ITEM(keywords, k);
    std::size_t place = 0;
    while (place < 3 && PyUnicode_CompareWithASCIIString(keyword, names[place]) != 0) ++place;
    if (place == 3 || bound[place] != nullptr) {
      PyErr_Format(PyExc_TypeError,
                   place == 3 ? "launch() got an unexpected keyword argument '%U'"
                              : "launch() got multiple values for argument '%U'",
                   keyword);
      return false;
    }
    bound[place] = arguments[count + static_cast<std::size_t>(k)];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (bound[i] != nullptr) continue;
    PyErr_Format(PyExc_TypeError, "launch() misses its argument '%s'; %s", names[i], order);
    return false;
  }
  return true;
}

PyObject* launch(PyObject*, PyObject* const* arguments, Py_ssize_t given,
                 PyObject* keywords) noexcept {
  const auto count = static_cast<std::size_t>(given);
  if (keywords == nullptr && count >= 3 && is_exactly<held_stream>(arguments[0]) &&
      is_exactly<config_fields>(arguments[1]) && is_exactly<core::kernel_handle>(arguments[2]))
      [[likely]] {
    return launch_exactly<usual_attributes>(arguments[0], arguments[1], arguments[2], arguments + 3,
                                            count - 3);
  }
  PyObject* bound[3]{};
  if (!bind_keywords(arguments, count, keywords, bound)) return nullptr;
  const std::size_t rest = count > 3 ? count - 3 : 0;
  return launch_general(bound[0], bound[1], bound[2], arguments + (count - rest), rest);
}

constexpr char documentation[] =
    "launch(stream, config, kernel, *kernel_args)\n--\n\n"
    "Launch a kernel.\n\n"
    "Stream-ordered.\n\n"
    "Parameters\n----------\n"
    "stream : Stream or GraphBuilder\n"
    "    Where the kernel runs, after all that was submitted there before.\n"
    "config : LaunchConfig\n"
    "    The grid and how to run it.\n"
    "kernel : Kernel\n"
    "    What to run.\n"
    "*kernel_args\n"
    "    One for each parameter of the kernel. An int or a float takes the width of its parameter; "
    "Buffers, arrays on the device and None go as addresses; NumPy and ctypes scalars and "
    "structures as their bytes; other objects through ``__cuda_kernel_arg__()``. The values are "
    "copied before the call returns.\n\n"
    "Raises\n------\n"
    "TypeError\n"
    "    If an argument is of a type that no parameter can take, if the number of arguments or the "
    "size of one is not the kernel's, or if `stream`, `config` or `kernel` is something else.\n"
    "OverflowError\n"
    "    If a number does not fit its parameter.\n"
    "ValueError\n"
    "    If a cooperative grid or the dynamic shared memory exceeds the limit of the device.\n"
    "RuntimeError\n"
    "    If the stream or a Buffer is closed.\n"
    "CUDAError\n"
    "    If the driver refuses the launch. What the kernel itself does wrong shows in a later "
    "call, or here with ``HALFWARP_SYNC_LAUNCH=1``.\n\n"
    "See Also\n--------\n"
    "cuLaunchKernelEx : the driver function.\n";

PyMethodDef launch_method{"launch",
                          reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launch)),
                          METH_FASTCALL | METH_KEYWORDS, documentation};

}  // namespace

PyObject* make_launch_function(const launch_hooks& from) noexcept {
  if (!object_class<held_stream>::type || !object_class<config_fields>::type ||
      !object_class<core::kernel_handle>::type || !object_class<buffer_fields>::type) {
    PyErr_SetString(PyExc_SystemError, "launch was made before the classes that it reads");
    return nullptr;
  }
  hooks = from;
  const reference module{PyUnicode_FromString("cuda.core")};
  return module ? PyCFunction_NewEx(&launch_method, nullptr, module.get()) : nullptr;
}

int find_packing_rule(core::launch_plan& plan, PyObject* stream, std::size_t count,
                      packing_rule& rule) noexcept {
  const core::parameter_layout* layout = plan.layout();
  const unsigned modes = launch_modes.load(std::memory_order_acquire);
  if (layout == nullptr || modes & (launch_unread | launch_unchecked)) [[unlikely]] {
    if (modes & launch_unread && read_launch_modes() < 0) return -1;
    layout = load_layout(plan, stream);
    if (layout == nullptr) return -1;
  }
  rule = {&core::unknown_parameter, 0};
  if (!layout->is_known || launch_modes.load(std::memory_order_relaxed) & launch_unchecked) {
    return 0;
  }
  const std::size_t expected = layout->parameters.size();
  if (expected != count) [[unlikely]]
    return wrong_count(plan, expected, count);
  rule = {layout->parameters.data(), 1};
  return 0;
}

int check_buffers_open(PyObject* const* arguments, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_instance<buffer_fields>(arguments[i]) &&
        !fields_of<buffer_fields>(arguments[i]).is_open) {
      PyErr_SetString(PyExc_RuntimeError, "Buffer has been closed");
      return -1;
    }
  }
  return 0;
}

PyObject* refuse_closed_stream() noexcept {
  PyErr_SetString(PyExc_RuntimeError, "Stream has been closed");
  return nullptr;
}

int finish(CUresult code, const core::stream_ref& stream, PyObject* kernel,
           PyObject* const* arguments, std::size_t count, PyObject* kept) noexcept {
  const unsigned modes = launch_modes.load(std::memory_order_relaxed);
  const char* function = "cuLaunchKernelEx";
  if (code == CUDA_SUCCESS && modes & launch_synchronises) {
    function = "cuStreamSynchronize";
    code = wait_unless_capturing(stream);
  }
  if (code == CUDA_SUCCESS && !(modes & launch_captures)) return 0;
  const reference given{tuple_of(arguments, count, code == CUDA_SUCCESS ? kept : nullptr)};
  if (!given) return -1;
  if (code == CUDA_SUCCESS) {
    return run_python([&] { return hooks.keep_captured_launch(stream, kernel, given.get()); });
  }
  run_python([&] { hooks.raise_failed_launch(code, function, kernel, given.get()); });
  return -1;
}

}  // namespace halfwarp::python
