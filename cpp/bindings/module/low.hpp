/* SPDX-License-Identifier: Apache-2.0 */
/* What the extension `cuda.bindings._low` calls; C as well as C++. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "driver/loader_api.hpp"

#ifdef __cplusplus
using halfwarp::driver::loader_api;
extern "C" {
#endif

/* Gives each library its function table, which the loader has. 0, or -1 with an error set. */
int low_attach(const struct loader_api* loader);

/* Fills a module ("cuda.bindings.driver") from the tables of its library. 0, or -1. */
int low_fill(PyObject* module);

/* The base class of all enumerations and its metaclass: new references, or NULL. */
PyObject* low_fast_enum(void);
PyObject* low_fast_enum_metaclass(void);

/* A struct of a class with the given contents: what pickle calls. */
PyObject* low_struct_from_bytes(PyObject* type, PyObject* contents);

/* The value of an opaque handle object as an int; None for anything else. */
PyObject* low_native_handle(PyObject* object);

/* The gate that the end of the interpreter closes (interpreter/exit_gate.hpp), for a capsule of
   that name; and closing it. */
const void* low_exit_gate(void);
const char* low_exit_gate_capsule(void);
void low_close_exit_gate(void);

/* In the child of a fork: what threads of the parent held is free. */
void low_after_fork(void);

#ifdef __cplusplus
}
#endif
