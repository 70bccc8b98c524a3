// SPDX-License-Identifier: Apache-2.0
// A launch that is checked and packed once and then executed repeatedly.
#include "python/launch/prepared_launch.hpp"

#include "python/arguments/pack.hpp"
#include "python/calls.hpp"
#include "python/launch/launch.hpp"
#include "python/launch/launch_config.hpp"

namespace halfwarp::python {

int prepared_launch::prepare(const core::kernel_handle& kernel, const config_fields& config,
                             PyObject* values) noexcept {
  packing_rule rule;
  core::launch_plan& plan = *kernel.facts().plan;
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(values));
  PyObject* const* const items = &PyTuple_GET_ITEM(values, 0);
  if (find_packing_rule(plan, nullptr, items, count, rule) < 0) return failed;
  if (reserve(count) < 0) return failed;
  if (pack_all(items, &plan, rule.parameters, rule.step, arguments_) < 0) return failed;
  for (std::size_t i = 0; i < count; ++i) watch(i, items[i]);
  if (check_further(config.further) < 0) return failed;
  kernel_ = kernel;
  config_ = config;
  config_.native.attrs = config_.attributes;
  return config.further != nullptr ? gather_all_attributes() : 0;
}

int prepared_launch::reserve(std::size_t count) noexcept {
  try {
    watched_.reserve(count);
    if (arguments_.prepare(count)) return 0;
  } catch (const std::bad_alloc&) {
    // reported like the memory of the arguments
  }
  PyErr_NoMemory();
  return failed;
}

void prepared_launch::watch(std::size_t index, PyObject* value) noexcept {
  std::erase_if(watched_, [=](const watched_memory& each) { return each.index == index; });
  const buffer_fields* const memory = memory_of_argument(value);
  if (memory != nullptr) watched_.push_back({memory, index});
}

int prepared_launch::gather_all_attributes() noexcept {
  all_.reset(new (std::nothrow) attribute_list);
  if (!all_) {
    PyErr_NoMemory();
    return failed;
  }
  config_.native.numAttrs = gather_attributes(config_, config_.further, all_->values);
  config_.native.attrs = all_->values;
  return 0;
}

int prepared_launch::replace(std::size_t index, PyObject* value) noexcept {
  packing_rule rule;
  core::launch_plan& plan = *kernel_.facts().plan;
  if (find_packing_rule(plan, nullptr, nullptr, count(), rule) < 0) return failed;
  const target to{rule.parameters[index * rule.step], arguments_, index, &plan, true};
  if (pack_general(value, to) < 0) return failed;
  watch(index, value);
  return 0;
}

PyObject* prepared_launch::refuse_closed_memory() noexcept {
  packing_rule rule;
  core::launch_plan& plan = *kernel_.facts().plan;
  if (find_packing_rule(plan, nullptr, nullptr, count(), rule) < 0) return nullptr;
  for (const watched_memory& each : watched_) {
    if (each.memory->is_open) continue;
    const target to{rule.parameters[each.index * rule.step], arguments_, each.index, &plan, true};
    char text[120];
    PyOS_snprintf(text, sizeof(text),
                  "Buffer has been closed since the launch was prepared; assign an open one: "
                  "prepared[%zu] = buffer",
                  each.index);
    to.fail(PyExc_RuntimeError, text);
    return nullptr;
  }
  return nullptr;
}

PyObject* prepared_launch::launch(PyObject* stream_object, const prepared_fields& object) noexcept {
  const borrowed_stream stream = fields_of<held_stream>(stream_object).borrow(stream_object);
  if (!stream.is_open()) [[unlikely]]
    return refuse_closed_stream();
  if (!is_memory_open()) [[unlikely]]
    return refuse_closed_memory();
  CUlaunchConfig native = config_.native;
  native.hStream = stream.raw();
  if (config_.needs_device_check &&
      check_device_limits(config_, native, stream, *kernel_.facts().plan) < 0) {
    return nullptr;
  }
  const CUresult code = submit(native, stream, *kernel_.facts().plan,
                               reinterpret_cast<CUfunction>(kernel_.raw()), arguments_.pointers());
  if (!is_finished(code)) [[unlikely]]
    return finish_launch(code, stream, object);
  Py_RETURN_NONE;
}

PyObject* prepared_launch::finish_launch(CUresult code, const core::stream_ref& stream,
                                         const prepared_fields& object) noexcept {
  const reference values = as_tuple(object.values);
  if (!values) return nullptr;
  PyObject* const* const items = &PyTuple_GET_ITEM(values.get(), 0);
  if (finish(code, config_.native, stream, object.kernel, items, count(), config_.further) < 0)
    return nullptr;
  if (!(launch_modes.load(std::memory_order_relaxed) & launch_captures)) Py_RETURN_NONE;
  // The object owns the memory of Buffers, even of those closed since.
  const reference owners = as_tuple(object.owners);
  const int result = !owners ? failed : run_python([&] {
    return hooks.keep_captured_launch(stream, object.kernel, owners.get());
  });
  if (result < 0) return nullptr;
  Py_RETURN_NONE;
}

CUresult prepared_launch::submit_raw(void* prepared, CUstream stream) noexcept {
  auto* const self = static_cast<prepared_launch*>(prepared);
  CUlaunchConfig config = self->config_.native;
  config.hStream = stream;
  return driver::table->cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(self->kernel_.raw()),
                                         self->arguments_.pointers(), nullptr);
}

int install_prepared_call(PyObject* type) noexcept {
  auto* const type_object = reinterpret_cast<PyTypeObject*>(type);
  type_object->tp_vectorcall_offset =
      object_class<prepared_fields>::offset +
      static_cast<Py_ssize_t>(offsetof(prepared_fields, vectorcall));
  type_object->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  return 0;
}

namespace {

// Handles keyword arguments, and objects that denote a Stream.
[[gnu::noinline]] PyObject* call_general(const prepared_fields& fields, PyObject* const* arguments,
                                         Py_ssize_t count, PyObject* keywords) noexcept {
  const Py_ssize_t keyword_count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
  const bool is_valid_name =
      keyword_count == 0 ||
      PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "stream") == 0;
  if (count + keyword_count != 1 || !is_valid_name) {
    PyErr_SetString(PyExc_TypeError, "a prepared launch expects one argument, the stream");
    return nullptr;
  }
  if (fields.launch == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "PreparedLaunch was not initialized");
    return nullptr;
  }
  PyObject* const stream = arguments[0];
  if (is_instance<held_stream>(stream)) return fields.launch->launch(stream, fields);
  const reference accepted{run_python([=] { return hooks.accept_stream(stream); })};
  if (!accepted) return nullptr;
  return fields.launch->launch(accepted.get(), fields);
}

}  // namespace

PyObject* call_prepared(PyObject* self, PyObject* const* arguments, std::size_t flagged_count,
                        PyObject* keywords) noexcept {
  const auto& fields = fields_of<prepared_fields>(self);
  const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
  const bool is_plain = count == 1 && keywords == nullptr && fields.launch != nullptr &&
                        is_exactly<held_stream>(arguments[0]);
  if (!is_plain) [[unlikely]]
    return call_general(fields, arguments, count, keywords);
  return fields.launch->launch(arguments[0], fields);
}

}  // namespace halfwarp::python
