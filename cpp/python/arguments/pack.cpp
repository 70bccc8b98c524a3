// SPDX-License-Identifier: Apache-2.0
// Turns Python objects into the bytes of kernel parameters: one function for each form.
#include "python/arguments/pack.hpp"

#include "python/arguments/pack_array.hpp"
#include "python/arguments/pack_number.hpp"
#include "python/names.hpp"

namespace halfwarp::python {
namespace {

using packer = int (*)(PyObject* value, const conversion& how, const target& to) noexcept;

// For functions that need nothing of the conversion.
template <int (*pack)(PyObject*, const target&) noexcept>
int simply(PyObject* value, const conversion&, const target& to) noexcept {
  return pack(value, to);
}

int pack_none(PyObject* value, const target& to) noexcept { return pack_address(value, 0, to); }

int pack_buffer(PyObject* value, const target& to) noexcept {
  const buffer_fields& buffer = fields_of<buffer_fields>(value);
  if (!buffer.is_open) return to.fail(PyExc_RuntimeError, "Buffer has been closed");
  return pack_address(value, buffer.pointer, to);
}

int pack_view(PyObject* value, const target& to) noexcept {
  const view_fields& view = fields_of<view_fields>(value);
  if (!view.is_device_accessible) {
    return to.fail(PyExc_TypeError, "the view is of host memory, which the kernel cannot read",
                   value);
  }
  if (view.source && !view.source->is_open) {
    return to.fail(PyExc_RuntimeError, "Buffer has been closed");
  }
  return pack_address(value, view.pointer, to);
}

int pack_value_at(PyObject* value, const char* bytes, const conversion& how,
                  const target& to) noexcept {
  if (how.integer == integer_kind::none) return to.copy(value, bytes, how.size);
  return pack_fixed_integer(value, bytes, how.size, how.integer, to);
}

int pack_stored(PyObject* value, const conversion& how, const target& to) noexcept {
  return pack_value_at(value, reinterpret_cast<const char*>(value) + how.offset, how, to);
}

int pack_pointed(PyObject* value, const conversion& how, const target& to) noexcept {
  const char* bytes;
  std::memcpy(&bytes, reinterpret_cast<const char*>(value) + how.offset, sizeof(bytes));
  return pack_value_at(value, bytes, how, to);
}

int pack_exported(PyObject* value, const target& to) noexcept {
  const exported_buffer bytes{value};
  if (!bytes) return -1;
  return to.copy(value, bytes->buf, static_cast<std::size_t>(bytes->len));
}

int pack_own_protocol(PyObject* value, const target& to) noexcept {
  const reference answer = call_method<"__cuda_kernel_arg__">(value);
  if (!answer) return -1;
  if (PyBytes_Check(answer.get())) {
    return to.copy(value, PyBytes_AS_STRING(answer.get()),
                   static_cast<std::size_t>(PyBytes_GET_SIZE(answer.get())));
  }
  if (PyLong_Check(answer.get())) return pack_integer(answer.get(), to);
  return to.fail(PyExc_TypeError, "__cuda_kernel_arg__() must return bytes or int", answer.get());
}

int pack_unsupported(PyObject* value, const target& to) noexcept {
  // Attributes of the instance, which no conversion may remember.
  if (has_attribute<"__cuda_array_interface__">(value)) {
    return pack_array_interface(value, to);
  }
  return to.unsupported(value,
                        "pass a Buffer, a number, a NumPy or ctypes scalar or structure, a device "
                        "array, None, or an object with __cuda_kernel_arg__()");
}

constexpr packer packers[] = {
    simply<pack_unsupported>,      // form::unsupported
    simply<pack_boolean>,          // form::boolean
    simply<pack_integer>,          // form::integer
    simply<pack_real>,             // form::real
    simply<pack_complex>,          // form::complex
    simply<pack_none>,             // form::none
    simply<pack_buffer>,           // form::buffer
    simply<pack_view>,             // form::view
    pack_stored,                   // form::stored_value
    pack_pointed,                  // form::pointed_value
    simply<pack_exported>,         // form::exported_bytes
    simply<pack_numpy_array>,      // form::numpy_array
    simply<pack_torch_tensor>,     // form::torch_tensor
    simply<pack_cupy_array>,       // form::cupy_array
    simply<pack_array_interface>,  // form::array_interface
    simply<pack_dlpack>,           // form::dlpack
    simply<pack_own_protocol>,     // form::own_protocol
};
static_assert(std::size(packers) == static_cast<std::size_t>(form::own_protocol) + 1);

}  // namespace

int pack_as(PyObject* value, const conversion& how, const target& to) noexcept {
  return packers[static_cast<std::size_t>(how.how)](value, how, to);
}

int pack_general(PyObject* value, const target& to) noexcept {
  conversion how;
  return find_conversion(value, how) < 0 ? -1 : pack_as(value, how, to);
}

int pack_unchecked(PyObject* values, kept_arguments& block) noexcept {
  if (!block.prepare(static_cast<std::size_t>(PyTuple_GET_SIZE(values)))) {
    PyErr_NoMemory();
    return -1;
  }
  return pack_all(&PyTuple_GET_ITEM(values, 0), nullptr, &core::unknown_parameter, 0, block);
}

}  // namespace halfwarp::python
