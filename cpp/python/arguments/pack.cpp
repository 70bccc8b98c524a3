// SPDX-License-Identifier: Apache-2.0
// Packs Python objects as the bytes of kernel parameters: one function per form.
#include "python/arguments/pack.hpp"

#include "python/arguments/pack_array.hpp"
#include "python/arguments/pack_number.hpp"
#include "python/names.hpp"

namespace halfwarp::python {
namespace {

using packer = int (*)(PyObject* value, const conversion& method, const target& to) noexcept;

// Adapts a function that does not need the conversion.
template <int (*pack)(PyObject*, const target&) noexcept>
int without_method(PyObject* value, const conversion&, const target& to) noexcept {
  return pack(value, to);
}

int pack_none(PyObject* value, const target& to) noexcept {
  if (!(to.parameter.accepts & core::accepts_address)) {
    return to.fail(PyExc_TypeError,
                   "the parameter is a number, got None, which is passed as the null pointer");
  }
  return pack_address(value, 0, to);
}

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

int pack_value_at(PyObject* value, const char* bytes, const conversion& method,
                  const target& to) noexcept {
  if (method.integer == integer_kind::none) return to.copy(value, bytes, method.size);
  return pack_fixed_integer(value, bytes, method.size, method.integer, to);
}

int pack_stored(PyObject* value, const conversion& method, const target& to) noexcept {
  return pack_value_at(value, reinterpret_cast<const char*>(value) + method.offset, method, to);
}

const char* pointer_in(PyObject* value, const conversion& method) noexcept {
  const char* bytes;
  std::memcpy(&bytes, reinterpret_cast<const char*>(value) + method.offset, sizeof(bytes));
  return bytes;
}

int pack_pointed(PyObject* value, const conversion& method, const target& to) noexcept {
  return pack_value_at(value, pointer_in(value, method), method, to);
}

int pack_structured(PyObject* value, const conversion& method, const target& to) noexcept {
  return to.copy(value, pointer_in(value, method), static_cast<std::size_t>(Py_SIZE(value)));
}

int pack_exported(PyObject* value, const target& to) noexcept {
  const exported_buffer bytes{value};
  if (!bytes) return failed;
  return to.copy(value, bytes->buf, static_cast<std::size_t>(bytes->len));
}

int pack_own_protocol(PyObject* value, const target& to) noexcept {
  const reference result = call_method<"__cuda_kernel_arg__">(value);
  if (!result) return failed;
  if (PyBytes_Check(result.get())) {
    return to.copy(value, PyBytes_AS_STRING(result.get()),
                   static_cast<std::size_t>(PyBytes_GET_SIZE(result.get())));
  }
  if (PyLong_Check(result.get())) return pack_integer(result.get(), to);
  return to.fail(PyExc_TypeError, "__cuda_kernel_arg__() must return bytes or int", result.get());
}

int pack_unsupported(PyObject* value, const target& to) noexcept {
  // Instance attributes are not part of the cached conversion of the type.
  if (has_attribute<"__cuda_array_interface__">(value)) {
    return pack_array_interface(value, to);
  }
  return to.unsupported(value,
                        "pass a Buffer, a number, a NumPy or ctypes scalar or structure, a device "
                        "array, None, or an object with __cuda_kernel_arg__()");
}

constexpr packer packers[] = {
    without_method<pack_unsupported>,      // form::unsupported
    without_method<pack_boolean>,          // form::boolean
    without_method<pack_integer>,          // form::integer
    without_method<pack_real>,             // form::real
    without_method<pack_complex>,          // form::complex
    without_method<pack_none>,             // form::none
    without_method<pack_buffer>,           // form::buffer
    without_method<pack_view>,             // form::view
    pack_stored,                           // form::stored_value
    pack_pointed,                          // form::pointed_value
    pack_structured,                       // form::structured_value
    without_method<pack_exported>,         // form::exported_bytes
    without_method<pack_numpy_array>,      // form::numpy_array
    without_method<pack_torch_tensor>,     // form::torch_tensor
    without_method<pack_cupy_array>,       // form::cupy_array
    without_method<pack_array_interface>,  // form::array_interface
    without_method<pack_dlpack>,           // form::dlpack
    without_method<pack_own_protocol>,     // form::own_protocol
};
static_assert(std::size(packers) == static_cast<std::size_t>(form::own_protocol) + 1);

}  // namespace

int pack_as(PyObject* value, const conversion& method, const target& to) noexcept {
  return packers[static_cast<std::size_t>(method.kind)](value, method, to);
}

int pack_general(PyObject* value, const target& to) noexcept {
  conversion method;
  return find_conversion(value, method) < 0 ? failed : pack_as(value, method, to);
}

int pack_unchecked(PyObject* values, owned_arguments& block) noexcept {
  if (!block.prepare(static_cast<std::size_t>(PyTuple_GET_SIZE(values)))) {
    PyErr_NoMemory();
    return failed;
  }
  return pack_all(&PyTuple_GET_ITEM(values, 0), nullptr, &core::unknown_parameter, 0, block);
}

}  // namespace halfwarp::python
