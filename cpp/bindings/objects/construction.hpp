// SPDX-License-Identifier: Apache-2.0
// What the constructors of handle and struct classes accept besides fields: a value, an address.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// `T(init_value=0, _ptr=0)` for handles, `T(_ptr=0)` for structs.
struct constructor_arguments {
  PyObject* value = nullptr;  // borrowed
  void* where = nullptr;      // foreign memory to view

  // For structs `fields` collects nothing: keywords that are not `_ptr` are left to the caller.
  bool parse(const class_record& record, PyObject* const* args, Py_ssize_t n, PyObject* keywords,
             bool takes_value);
  bool parse(const class_record& record, PyObject* args, PyObject* keywords, bool takes_value);

 private:
  bool take(const class_record& record, PyObject* name, PyObject* object, bool takes_value);
  bool take_positional(const class_record& record, PyObject* const* args, Py_ssize_t n,
                       bool takes_value);
  bool set_address(const class_record& record, PyObject* object);
};

// TypeError for more arguments by position than a constructor has; false.
bool raise_too_many(const class_record& record, Py_ssize_t most, Py_ssize_t given);

// Puts class and argument before the message of the error that is set; false.
bool name_constructor_argument(const class_record& record, const char* name);

// The class has a field of that name: it is a keyword of the constructor.
const field* find_field(const library& lib, const class_record& record, const char* name);

}  // namespace halfwarp::bindings
