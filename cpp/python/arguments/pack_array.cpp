// SPDX-License-Identifier: Apache-2.0
// Packs arrays of other libraries as the address of their first element.
#include "python/arguments/pack_array.hpp"

#include "python/arguments/integer_digits.hpp"
#include "python/arguments/pack.hpp"
#include "python/names.hpp"

namespace halfwarp::python {
namespace {

constexpr char host_array[] =
    "the array is in host memory, which the kernel cannot read; copy it to the device first";

// Packs the integer object `address`; null means that an exception is already set.
int pack_address_object(PyObject* value, const reference& address, const target& to) noexcept {
  if (!address) return failed;
  const reference number = as_index(address.get());
  if (!number) return failed;
  const integer_digits digits{number.get()};
  std::uint64_t bits;
  if (digits.is_negative() || !digits.read(bits)) {
    return to.fail(PyExc_OverflowError, "the address of the array's data does not fit 64 bits",
                   value);
  }
  return pack_address(value, bits, to);
}

// Replaces an error of the importer by one that also names the argument.
int fail_import(const target& to) noexcept {
  PyObject *type, *error, *traceback;
  if (!PyErr_ExceptionMatches(PyExc_BufferError)) return failed;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  const reference kind{type}, cause{error}, frames{traceback};
  const reference text{run_python([&] { return PyObject_Str(cause.get()); })};
  const char* const utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  return utf8 ? to.fail(PyExc_BufferError, utf8) : failed;
}

int pack_imported(PyObject* value, import_function importer, const target& to) noexcept {
  std::uint64_t address = 0;
  const int status = run_python([&] { return importer(value, &address); });
  if (status < 0) return fail_import(to);
  if (status > 0) return to.fail(PyExc_TypeError, host_array, value);
  return pack_address(value, address, to);
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
  if (!shape) return failed;
  if (PyObject_Size(shape.get()) != 0) return to.fail(PyExc_TypeError, host_array, value);
  // Packs the scalar of the same value, whose type decides whether it is supported.
  const reference scalar = get_item(value, shape.get());  // indexed by the empty tuple
  if (!scalar) return failed;
  conversion method;
  if (find_conversion(scalar.get(), method) < 0) return failed;
  if (method.kind == form::numpy_array) return to.unsupported(value, "pass a NumPy scalar");
  return pack_as(scalar.get(), method, to);
}

int pack_torch_tensor(PyObject* value, const target& to) noexcept {
  const reference is_on_device = attribute<"is_cuda">(value);
  const int truth = is_on_device ? as_truth(is_on_device.get()) : failed;
  if (truth < 0) return failed;
  if (truth == 0) return to.fail(PyExc_TypeError, host_array, value);
  return pack_address_object(value, call_method<"data_ptr">(value), to);
}

int pack_cupy_array(PyObject* value, const target& to) noexcept {
  const reference memory = attribute<"data">(value);
  if (!memory) return failed;
  return pack_address_object(value, attribute<"ptr">(memory.get()), to);
}

int pack_array_interface(PyObject* value, const target& to) noexcept {
  return pack_imported(value, import_interface, to);
}

int pack_dlpack(PyObject* value, const target& to) noexcept {
  return pack_imported(value, import_tensor, to);
}

}  // namespace halfwarp::python
