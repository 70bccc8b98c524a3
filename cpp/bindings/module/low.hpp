/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the extension `cuda.bindings._low` calls; valid C and C++. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "driver/loader_api.hpp"

#ifdef __cplusplus
using halfwarp::driver::loader_api;
extern "C" {
#endif

/* Connects each library to its function table in the loader. Returns 0, or -1 with an error set. */
int low_attach(const struct loader_api* loader);

/* Fills a module ("cuda.bindings.driver") from the tables of its library. Returns 0, or -1. */
int low_fill(PyObject* module);

/* Return the base class of all enumerations and its metaclass: new references, or NULL. */
PyObject* low_fast_enum(void);
PyObject* low_fast_enum_metaclass(void);

/* Creates a struct of a class from its bytes; pickle calls it. */
PyObject* low_struct_from_bytes(PyObject* type, PyObject* contents);

/* Returns the value of an opaque handle object as an int; None for any other object. */
PyObject* low_native_handle(PyObject* object);

/* Create a query (objects/queries.hpp) from a tuple, and the property that makes it; or NULL. */
PyObject* low_new_query(PyObject* parts);
PyObject* low_query_property(PyObject* query, PyObject* cls, PyObject* name);

/* Return the exit gate (interpreter/exit_gate.hpp) and the name of its capsule; close the gate at
   interpreter exit. */
const void* low_exit_gate(void);
const char* low_exit_gate_capsule(void);
void low_close_exit_gate(void);

/* Resets, in a forked child process, the locks that other threads of the parent held. */
void low_after_fork(void);

#ifdef __cplusplus
}
#endif
