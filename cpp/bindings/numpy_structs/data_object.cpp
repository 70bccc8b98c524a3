// SPDX-License-Identifier: Apache-2.0
// Memory and lifetime of data types.
#include "bindings/numpy_structs/data_object.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "bindings/errors/errors.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

// Above it, the system zeroes memory, so that it costs what of it is used.
constexpr std::size_t most_of_usual = 512;

PyObject* make(const library& lib, int type, const extent& e, std::size_t least = 0) {
  class_type* ready = ready_class(lib, type);
  std::size_t bytes = ready ? memory_of(*ready->record->data, e.elements(), least) : 0;
  if (!bytes) return nullptr;
  const std::size_t alignment = ready->record->alignment;
  if (alignment > alignof(std::max_align_t)) bytes += alignment;
  const std::size_t size = sizeof(data_object) + bytes;
  const bool is_usual = e.elements() == 1 && !least && size <= most_of_usual;
  void* spare = is_usual ? take_spare(*ready) : nullptr;
  auto* made =
      static_cast<data_object*>(spare ? std::memset(spare, 0, size) : PyObject_Calloc(1, size));
  if (!made) return PyErr_NoMemory();
  made->is_usual = is_usual;
  made->where = storage_of(made, alignment);
  if (e.ndim) made->e = e;  // else it has its zeroes
  made->is_settled = true;
  return PyObject_Init(reinterpret_cast<PyObject*>(made), &ready->type);
}

}  // namespace

extent extent_of_one(const data_record& record) {
  return record.is_array ? extent::line(1, Py_ssize_t(record.size)) : extent{};
}

std::size_t memory_of(const data_record& record, Py_ssize_t n, std::size_t least) {
  constexpr auto most = std::size_t(PY_SSIZE_T_MAX) - sizeof(data_object) - struct_slack;
  if (std::size_t(n) <= most / record.size && least <= most) [[likely]]
    return std::max(std::size_t(n) * record.size, least) + struct_slack;
  PyErr_NoMemory();
  return 0;
}

PyObject* new_data(const library& lib, int type) {
  return make(lib, type, extent_of_one(*lib.classes[std::size_t(type)].data));
}

PyObject* new_data_with_tail(const library& lib, int type, std::size_t bytes) {
  return make(lib, type, extent_of_one(*lib.classes[std::size_t(type)].data), bytes);
}

PyObject* new_data_array(const library& lib, int type, Py_ssize_t n) {
  return make(lib, type, extent::line(n, Py_ssize_t(lib.classes[std::size_t(type)].data->size)));
}

PyObject* new_data_view(const library& lib, int type, const data_view& view) {
  class_type* ready = ready_class(lib, type);
  auto* made = ready ? PyObject_New(data_object, &ready->type) : nullptr;
  if (!made) return nullptr;
  made->where = view.where;
  made->owner = Py_NewRef(view.owner);
  made->kept = nullptr;
  made->e = view.e;
  made->is_read_only = view.is_read_only;
  made->is_column = view.is_column;
  made->is_settled = true;
  made->is_usual = false;
  return reinterpret_cast<PyObject*>(made);
}

bool check_data(PyObject* object, const library& lib, int type) {
  if (!ready_class(lib, type)) return false;
  return is_instance(object, lib, type) ||
         raise_expected(short_name(lib.classes[std::size_t(type)].name), object);
}

namespace {

// One struct, with what it depends on.
bool copy_one(PyObject* target, char* to, PyObject* source, char* from) {
  std::size_t size = data_record_of(source).size;
  std::memmove(to, from, size);
  return copy_kept(as_storage(target), to, as_storage(source), from, size) == 0;
}

}  // namespace

// Several are packed first, since some of them may be among those that are written.
int copy_data(PyObject* target, char* where, const extent& e, PyObject* source) {
  Py_ssize_t n = as_data(source)->e.elements();
  if (n != 1 && n != e.elements()) {
    PyErr_Format(PyExc_ValueError, "expected %zd structs, got %zd", e.elements(), n);
    return -1;
  }
  const reference packed{n == 1 ? Py_NewRef(source) : packed_data(source)};
  if (!packed) return -1;
  char* from = as_data(packed)->where;
  std::size_t step = n == 1 ? 0 : data_record_of(source).size;
  bool ok = for_each_element(e, where, [&](char* to) {
    return copy_one(target, to, packed, std::exchange(from, from + step));
  });
  return ok ? 0 : -1;
}

PyObject* packed_data(PyObject* source) {
  class_type& type = class_of(Py_TYPE(source));
  data_object* given = as_data(source);
  Py_ssize_t size = Py_ssize_t(type.record->data->size);
  PyObject* made = make(*type.lib, index_of(type), given->e.packed(size));
  if (!made) return nullptr;
  char* to = as_data(made)->where;
  if (!for_each_element(given->e, given->where, [&](char* from) {
        return copy_one(made, std::exchange(to, to + size), source, from);
      }))
    Py_CLEAR(made);
  return made;
}

bool check_writable(PyObject* self) {
  if (!as_data(self)->is_read_only) return true;
  PyErr_Format(PyExc_ValueError, "This %s instance is read-only", class_name(self));
  return false;
}

}  // namespace halfwarp::bindings
