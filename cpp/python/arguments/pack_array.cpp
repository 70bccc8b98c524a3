// SPDX-License-Identifier: Apache-2.0
// Packs arrays of other libraries as the address of their first element.
#include "python/arguments/pack_array.hpp"

#include "python/arguments/integer_digits.hpp"
#include "python/arguments/pack.hpp"
#include "python/dlpack.hpp"
#include "python/names.hpp"

namespace halfwarp::python {
namespace {

constexpr char host_array[] =
    "the array is in host memory, which the kernel cannot read; copy it to the device first";

// Packs the integer object `address`; null means that an exception is already set.
int pack_address_object(PyObject* value, const reference& address, const target& to) noexcept {
  if (!address) return -1;
  const reference number = as_index(address.get());
  if (!number) return -1;
  const integer_digits digits{number.get()};
  std::uint64_t bits;
  if (digits.is_negative() || !digits.read(bits)) {
    return to.fail(PyExc_OverflowError, "the address of the array's data does not fit 64 bits",
                   value);
  }
  return pack_address(value, bits, to);
}

const dlpack::tensor* tensor_of(PyObject* capsule) noexcept {
  if (PyCapsule_IsValid(capsule, dlpack::versioned_capsule_name)) {
    const void* pointer = PyCapsule_GetPointer(capsule, dlpack::versioned_capsule_name);
    return &static_cast<const dlpack::versioned_tensor*>(pointer)->content;
  }
  const void* pointer = PyCapsule_GetPointer(capsule, dlpack::capsule_name);
  return pointer ? &static_cast<const dlpack::managed_tensor*>(pointer)->content : nullptr;
}

bool is_device_accessible(dlpack::device_type type) noexcept {
  return type == dlpack::device_type::cuda || type == dlpack::device_type::cuda_host ||
         type == dlpack::device_type::cuda_managed;
}

}  // namespace

int pack_address(PyObject* value, std::uint64_t address, const target& to) noexcept {
  if (!(to.parameter.accepts & core::accepts_address)) {
    if (to.parameter.size != sizeof(address)) return to.wrong_size(value, sizeof(address));
    return to.fail(PyExc_TypeError, "the parameter is a floating-point number", value);
  }
  return to.copy(value, &address, sizeof(address));
}

int pack_numpy_array(PyObject* value, const target& to) noexcept {
  const reference shape = attribute<"shape">(value);
  if (!shape) return -1;
  if (PyObject_Size(shape.get()) != 0) return to.fail(PyExc_TypeError, host_array, value);
  // Packs the scalar of the same value, whose type decides whether it is supported.
  const reference scalar = get_item(value, shape.get());  // indexed by the empty tuple
  if (!scalar) return -1;
  conversion method;
  if (find_conversion(scalar.get(), method) < 0) return -1;
  if (method.kind == form::numpy_array) return to.unsupported(value, "pass a NumPy scalar");
  return pack_as(scalar.get(), method, to);
}

int pack_torch_tensor(PyObject* value, const target& to) noexcept {
  const reference is_on_device = attribute<"is_cuda">(value);
  const int truth = is_on_device ? as_truth(is_on_device.get()) : -1;
  if (truth < 0) return -1;
  if (truth == 0) return to.fail(PyExc_TypeError, host_array, value);
  return pack_address_object(value, call_method<"data_ptr">(value), to);
}

int pack_cupy_array(PyObject* value, const target& to) noexcept {
  const reference memory = attribute<"data">(value);
  if (!memory) return -1;
  return pack_address_object(value, attribute<"ptr">(memory.get()), to);
}

int pack_array_interface(PyObject* value, const target& to) noexcept {
  const reference interface = attribute<"__cuda_array_interface__">(value);
  if (!interface) {
    // Libraries whose arrays can be in host memory raise AttributeError for those.
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return to.fail(PyExc_TypeError, host_array, value);
  }
  PyObject* const key = interned<"data">();
  const reference data = key ? get_item(interface.get(), key) : reference{};
  if (!data) return -1;
  return pack_address_object(value, get_item(data.get(), Py_ssize_t{0}), to);
}

int pack_dlpack(PyObject* value, const target& to) noexcept {
  const reference device = call_method<"__dlpack_device__">(value);
  const reference type = device ? get_item(device.get(), Py_ssize_t{0}) : reference{};
  const reference number = type ? as_index(type.get()) : reference{};
  if (!number) return -1;
  if (!is_device_accessible(static_cast<dlpack::device_type>(PyLong_AsLong(number.get())))) {
    return to.fail(PyExc_TypeError, host_array, value);
  }
  // Stream -1 means no synchronization, as for every other argument.
  const reference method = attribute<"__dlpack__">(value);
  const reference keywords{Py_BuildValue("{s:i}", "stream", -1)};
  if (!method || !keywords) return -1;
  const reference capsule = call_with_keywords(method.get(), keywords.get());
  if (!capsule) return -1;
  // The capsule is read but not consumed: its destructor releases the tensor.
  const dlpack::tensor* const tensor = tensor_of(capsule.get());
  if (tensor == nullptr) return -1;
  return pack_address(value, reinterpret_cast<std::uint64_t>(tensor->data) + tensor->byte_offset,
                      to);
}

}  // namespace halfwarp::python
