// SPDX-License-Identifier: Apache-2.0
// The function `launch`.
#include "python/launch/launch.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "python/arguments/pack.hpp"
#include "python/calls.hpp"
#include "python/errors.hpp"
#include "python/launch/launch_config.hpp"

namespace halfwarp::python {
namespace {

constexpr std::size_t most_listed = 16;
constexpr char usage[] = "the order is launch(stream, config, kernel, *kernel_args)";

// Queries the driver with the GIL released, because it may have to load the kernel. Uses the
// stream's context: a launch needs no current context.
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

// Returns "; parameters: x, y" for a kernel, or "" if a name is unknown or there are many.
std::string listed_parameters(const core::parameter_layout& layout) {
  std::string text;
  for (const core::parameter_description& each : layout.descriptions) {
    if (each.name.empty() || layout.descriptions.size() > most_listed) return {};
    text += (text.empty() ? "; parameters: " : ", ") + each.name;
  }
  return text;
}

int wrong_count(const core::launch_plan& plan, const core::parameter_layout& layout,
                PyObject* const* arguments, std::size_t count) noexcept {
  try {
    const std::size_t expected = layout.parameters.size();
    const bool is_tuple = count == 1 && arguments != nullptr && PyTuple_Check(arguments[0]);
    PyErr_Format(PyExc_TypeError, "%s() expected %zu argument%s, got %zu%s%s",
                 plan.readable_name().c_str(), expected, expected == 1 ? "" : "s", count,
                 is_tuple ? ", a tuple: unpack it with *" : "", listed_parameters(layout).c_str());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return failed;
}

// A capturing stream has no work to wait for. The query itself may return an earlier error.
CUresult wait_unless_capturing(const core::stream_ref& stream) noexcept {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult code = driver::table->cuStreamIsCapturing(stream.raw(), &capture);
  const bool is_capturing =
      code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || capture != CU_STREAM_CAPTURE_STATUS_NONE;
  if (is_capturing) return CUDA_SUCCESS;
  if (code != CUDA_SUCCESS) return code;
  const gil_release released;
  return driver::table->cuStreamSynchronize(stream.raw());
}

// Returns a tuple of the kernel's arguments, plus one object unless it is null.
PyObject* tuple_of(PyObject* const* arguments, std::size_t count, PyObject* extra) noexcept {
  const auto size = static_cast<Py_ssize_t>(count);
  PyObject* const result = PyTuple_New(size + (extra != nullptr));
  if (result == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(result, i, Py_NewRef(arguments[i]));
  if (extra != nullptr) PyTuple_SET_ITEM(result, size, Py_NewRef(extra));
  return result;
}

// Returns -1 if the driver does not report the device, for instance after an error of a kernel.
CUdevice known_device_of(const core::stream_ref& stream) noexcept {
  try {
    return device_of(stream);
  } catch (...) {
    return failed;
  }
}

PyObject* refuse_uninitialized(PyObject* object) noexcept {
  raise_uninitialized(object);
  return nullptr;
}

// Attributes of one launch: copies, because another thread may assign to the configuration.
struct plain_attributes {
  // Returns false with an exception set.
  bool copy_from(const config_fields& config, CUlaunchConfig& native) noexcept {
    std::copy_n(config.attributes, native.numAttrs, values);
    native.attrs = values;
    return true;
  }
  // Returns the object that a graph must retain for them, or null.
  [[nodiscard]] static PyObject* owner() noexcept { return nullptr; }

  CUlaunchAttribute values[3];
};

class all_attributes {
 public:
  bool copy_from(const config_fields& config, CUlaunchConfig& native) noexcept {
    further_ = reference::borrow(config.further);
    native.numAttrs = gather_attributes(config, further_.get(), values_);
    native.attrs = values_;
    return check_further(further_.get()) == 0;
  }
  [[nodiscard]] PyObject* owner() const noexcept { return further_.get(); }

 private:
  reference further_;
  CUlaunchAttribute values_[most_attributes];
};

PyObject* launch_with_all_attributes(PyObject* stream, PyObject* config, PyObject* kernel,
                                     PyObject* const* arguments, std::size_t count) noexcept;

// Borrows the stream after everything that may run Python code, which could close it.
template <class Attributes>
PyObject* launch_checked(PyObject* stream_object, PyObject* config_object, PyObject* kernel_object,
                         PyObject* const* arguments, std::size_t count) noexcept {
  const auto& config = fields_of<config_fields>(config_object);
  const auto& kernel = fields_of<initialized_kernel>(kernel_object).value_or_null();
  if constexpr (std::is_same_v<Attributes, plain_attributes>) {
    if (!config.is_plain) [[unlikely]]
      return launch_with_all_attributes(stream_object, config_object, kernel_object, arguments,
                                        count);
  }
  if (!kernel.is_open()) [[unlikely]]
    return refuse_uninitialized(kernel_object);
  core::launch_plan& plan = *kernel.facts().plan;
  const auto function = reinterpret_cast<CUfunction>(kernel.raw());
  packing_rule rule;
  if (find_packing_rule(plan, stream_object, arguments, count, rule) < 0) return nullptr;
  call_arguments block;
  if (!block.prepare(count)) return PyErr_NoMemory();
  if (pack_all(arguments, &plan, rule.parameters, rule.step, block) < 0) return nullptr;
  if (block.ran_python() && check_buffers_open(arguments, count) < 0) return nullptr;
  const borrowed_stream stream = fields_of<held_stream>(stream_object).borrow(stream_object);
  if (!stream.is_open()) [[unlikely]]
    return refuse_closed_stream();
  Attributes attributes;
  CUlaunchConfig native = config.native;
  if (!attributes.copy_from(config, native)) return nullptr;
  native.hStream = stream.raw();
  if (config.needs_device_check && check_device_limits(config, native, stream, plan) < 0)
    return nullptr;
  const CUresult code = submit(native, stream, plan, function, block.pointers());
  if (!is_finished(code) &&
      finish(code, native, stream, kernel_object, arguments, count, attributes.owner()) < 0) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

// For configurations with further attributes, and for uninitialized ones.
[[gnu::noinline]] PyObject* launch_with_all_attributes(PyObject* stream, PyObject* config,
                                                       PyObject* kernel, PyObject* const* arguments,
                                                       std::size_t count) noexcept {
  if (!fields_of<config_fields>(config).is_valid) return refuse_uninitialized(config);
  return launch_checked<all_attributes>(stream, config, kernel, arguments, count);
}

PyObject* wrong_argument(const char* name, const char* expected, PyObject* value) noexcept {
  PyErr_Format(PyExc_TypeError, "launch() argument '%s' must be a %s, got %s; %s", name, expected,
               Py_TYPE(value)->tp_name, usage);
  return nullptr;
}

PyObject* wrong_kernel(PyObject* value) noexcept {
  if (!PyUnicode_Check(value) && PyObject_HasAttrString(value, "get_kernel") == 0)
    return wrong_argument("kernel", "Kernel", value);
  PyErr_Format(PyExc_TypeError,
               "launch() argument 'kernel' must be a Kernel, got %s: ObjectCode.get_kernel(name) "
               "returns one",
               Py_TYPE(value)->tp_name);
  return nullptr;
}

// Returns a LaunchConfig, or creates one from a dict of its keyword arguments.
reference accept_config(PyObject* value) noexcept {
  if (is_instance<config_fields>(value)) return reference::borrow(value);
  if (!PyDict_Check(value)) return reference{wrong_argument("config", "LaunchConfig", value)};
  auto* const type = reinterpret_cast<PyObject*>(object_class<config_fields>::type);
  return call_with_keywords(type, value);
}

reference accept_stream(PyObject* value) noexcept {
  if (is_instance<held_stream>(value)) return reference::borrow(value);
  return reference{run_python([=] { return hooks.accept_stream(value); })};
}

// Handles all other combinations of types, and reports errors in the order of the arguments.
PyObject* launch_general(PyObject* stream, PyObject* config, PyObject* kernel,
                         PyObject* const* arguments, std::size_t count) noexcept {
  const reference accepted_config = accept_config(config);
  if (!accepted_config) return nullptr;
  if (!is_instance<initialized_kernel>(kernel)) return wrong_kernel(kernel);
  const reference accepted_stream = accept_stream(stream);
  if (!accepted_stream) return nullptr;
  return launch_checked<plain_attributes>(accepted_stream.get(), accepted_config.get(), kernel,
                                          arguments, count);
}

// Binds the first three parameters by name. Returns false with TypeError set.
bool bind_keywords(PyObject* const* arguments, std::size_t count, PyObject* keywords,
                   PyObject* (&bound)[3]) noexcept {
  constexpr const char* names[] = {"stream", "config", "kernel"};
  for (std::size_t i = 0; i < count && i < 3; ++i) bound[i] = arguments[i];
  for (Py_ssize_t k = 0; keywords != nullptr && k < PyTuple_GET_SIZE(keywords); ++k) {
    PyObject* const keyword = PyTuple_GET_ITEM(keywords, k);
    std::size_t position = 0;
    while (position < 3 && PyUnicode_CompareWithASCIIString(keyword, names[position]) != 0)
      ++position;
    if (position == 3 || bound[position] != nullptr) {
      PyErr_Format(PyExc_TypeError,
                   position == 3
                       ? "launch() got an unexpected keyword argument '%U'; the arguments "
                         "of the kernel are passed in order, without names"
                       : "launch() got multiple values for argument '%U'",
                   keyword);
      return false;
    }
    bound[position] = arguments[count + static_cast<std::size_t>(k)];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (bound[i] != nullptr) continue;
    PyErr_Format(PyExc_TypeError, "launch() is missing its argument '%s'; %s", names[i], usage);
    return false;
  }
  return true;
}

PyObject* launch(PyObject*, PyObject* const* arguments, Py_ssize_t argument_count,
                 PyObject* keywords) noexcept {
  const auto count = static_cast<std::size_t>(argument_count);
  if (keywords == nullptr && count >= 3 && is_exactly<held_stream>(arguments[0]) &&
      is_exactly<config_fields>(arguments[1]) && is_exactly<initialized_kernel>(arguments[2]))
      [[likely]] {
    return launch_checked<plain_attributes>(arguments[0], arguments[1], arguments[2], arguments + 3,
                                            count - 3);
  }
  PyObject* bound[3]{};
  if (!bind_keywords(arguments, count, keywords, bound)) return nullptr;
  const std::size_t kernel_count = count > 3 ? count - 3 : 0;
  return launch_general(bound[0], bound[1], bound[2], arguments + (count - kernel_count),
                        kernel_count);
}

constexpr char documentation[] =
    "launch(stream, config, kernel, *kernel_args)\n--\n\n"
    "Launch a kernel.\n\n"
    "Stream-ordered.\n\n"
    "Parameters\n----------\n"
    "stream : Stream or GraphBuilder\n"
    "    Stream on which the kernel runs, after all work submitted to it before.\n"
    "config : LaunchConfig\n"
    "    Grid and launch options.\n"
    "kernel : Kernel\n"
    "    Kernel to launch.\n"
    "*kernel_args\n"
    "    Arguments of the kernel, one per parameter. An int or a float is converted to the type of "
    "its parameter. Buffers, device arrays and None are passed as addresses, NumPy and ctypes "
    "scalars and structures as bytes, other objects through ``__cuda_kernel_arg__()``. The values "
    "are copied before the call returns.\n\n"
    "Raises\n------\n"
    "TypeError\n"
    "    If a type is not supported, if the number of arguments or the size of an one does not "
    "match the kernel, or if `stream`, `config` or `kernel` has another type.\n"
    "OverflowError\n"
    "    If a number does not fit its parameter.\n"
    "ValueError\n"
    "    If a cooperative grid or the dynamic shared memory exceeds the limit of the device.\n"
    "RuntimeError\n"
    "    If the stream or a Buffer is closed, or a GraphBuilder is not capturing.\n"
    "CUDAError\n"
    "    If the driver rejects the launch. Errors during execution are raised by a later call, or "
    "by this one with ``HALFWARP_SYNC_LAUNCH=1``.\n\n"
    "See Also\n--------\n"
    "cuLaunchKernelEx : the driver function.\n";

PyMethodDef launch_method{"launch",
                          reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launch)),
                          METH_FASTCALL | METH_KEYWORDS, documentation};

}  // namespace

PyObject* make_launch_function(const launch_hooks& new_hooks) noexcept {
  if (!object_class<held_stream>::type || !object_class<config_fields>::type ||
      !object_class<initialized_kernel>::type || !object_class<buffer_fields>::type) {
    PyErr_SetString(PyExc_SystemError, "launch was created before its classes were registered");
    return nullptr;
  }
  hooks = new_hooks;
  const reference module{PyUnicode_FromString("cuda.core")};
  return module ? PyCFunction_NewEx(&launch_method, nullptr, module.get()) : nullptr;
}

int find_packing_rule(core::launch_plan& plan, PyObject* stream, PyObject* const* arguments,
                      std::size_t count, packing_rule& rule) noexcept {
  const core::parameter_layout* layout = plan.layout();
  const unsigned modes = launch_modes.load(std::memory_order_acquire);
  if (layout == nullptr || modes & (launch_unread | launch_unchecked)) [[unlikely]] {
    if (modes & launch_unread && read_launch_modes() < 0) return failed;
    layout = load_layout(plan, stream);
    if (layout == nullptr) return failed;
  }
  rule = {&core::unknown_parameter, 0};
  if (!layout->is_known || launch_modes.load(std::memory_order_relaxed) & launch_unchecked) {
    return 0;
  }
  if (layout->parameters.size() != count) [[unlikely]]
    return wrong_count(plan, *layout, arguments, count);
  rule = {layout->parameters.data(), 1};
  return 0;
}

int check_buffers_open(PyObject* const* arguments, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const buffer_fields* const memory = memory_of_argument(arguments[i]);
    if (memory != nullptr && !memory->is_open) {
      PyErr_SetString(PyExc_RuntimeError, "Buffer has been closed");
      return failed;
    }
  }
  return 0;
}

PyObject* refuse_closed_stream() noexcept {
  PyErr_SetString(PyExc_RuntimeError, "Stream has been closed");
  return nullptr;
}

int finish(CUresult code, const CUlaunchConfig& config, const core::stream_ref& stream,
           PyObject* kernel, PyObject* const* arguments, std::size_t count,
           PyObject* owner) noexcept {
  const CUlaunchConfig* const refused = code == CUDA_SUCCESS ? nullptr : &config;
  const unsigned modes = launch_modes.load(std::memory_order_relaxed);
  const char* function = "cuLaunchKernelEx";
  if (code == CUDA_SUCCESS && modes & launch_synchronizes) {
    function = "cuStreamSynchronize";
    code = wait_unless_capturing(stream);
  }
  if (code == CUDA_SUCCESS && !(modes & launch_captures)) return 0;
  const reference argument_tuple{
      tuple_of(arguments, count, code == CUDA_SUCCESS ? owner : nullptr)};
  if (!argument_tuple) return failed;
  if (code == CUDA_SUCCESS) {
    return run_python(
        [&] { return hooks.keep_captured_launch(stream, kernel, argument_tuple.get()); });
  }
  const CUdevice device = known_device_of(stream);
  run_python([&] {
    hooks.raise_failed_launch(code, function, kernel, argument_tuple.get(), refused, device);
  });
  return failed;
}

}  // namespace halfwarp::python
