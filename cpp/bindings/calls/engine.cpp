// SPDX-License-Identifier: Apache-2.0
// Interprets function records by Python's calling conventions.
#include "bindings/calls/engine.hpp"

#include <cstring>

#include "bindings/conventions/results.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* text_result(const frame& c, word text) {
  if (!text && PyErr_Occurred()) return nullptr;
  PyObject* value =
      text ? PyBytes_FromString(reinterpret_cast<const char*>(text)) : Py_NewRef(Py_None);
  return success_pair(c.lib, value, true);
}

kind last_output(const frame& c) {
  int i = c.f.n - 1;
  while (!is_output(c.param_at(i).k)) --i;
  return c.param_at(i).k;
}

PyObject* outputs_result(frame& c) {
  PyObject* values[max_parameters];
  int count = make_outputs(c, values);
  if (count < 0) return nullptr;
  return count == 1 ? success_pair(c.lib, values[0], recycles(last_output(c)))
                    : success_many(c.lib, values, count);
}

// Returns the interned names of a function's parameters, created by its first call with keywords.
PyObject* names_of(const library& lib, const function& f) {
  PyObject** cached = &lib.state->keywords[&f - lib.functions.data()];
  if (PyObject* known = published(cached)) return known;
  PyObject* names = PyTuple_New(f.positional);
  if (!names) return nullptr;
  const char* name = f.names;
  for (int i = 0; i < f.positional; ++i, name += std::strlen(name) + 1) {
    PyObject* text = PyUnicode_InternFromString(name);
    if (!text) {
      Py_DECREF(names);
      return nullptr;
    }
    PyTuple_SET_ITEM(names, i, text);
  }
  return publish(cached, names);
}

constexpr int unknown_keyword = -2;

// Returns the position of a keyword, `unknown_keyword`, or `failed`.
int position_of(PyObject* names, PyObject* keyword) {
  int n = int(PyTuple_GET_SIZE(names));
  for (int i = 0; i < n; ++i)
    if (PyTuple_GET_ITEM(names, i) == keyword) return i;
  for (int i = 0; i < n; ++i) {
    int order = PyUnicode_Compare(PyTuple_GET_ITEM(names, i), keyword);
    if (order == 0) return i;
    if (order == -1 && PyErr_Occurred()) return failed;
  }
  return unknown_keyword;
}

bool bind_keywords(const library& lib, const function& f, PyObject* const* values,
                   PyObject* keywords, PyObject** bound) {
  PyObject* names = names_of(lib, f);
  if (!names) return false;
  for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(keywords); ++j) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, j);
    int i = position_of(names, keyword);
    if (i == failed) return false;
    if (i == unknown_keyword)
      return raise_error(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                         f.name.c_str(), keyword);
    if (bound[i])
      return raise_error(PyExc_TypeError, "%s() got multiple values for argument '%U'",
                         f.name.c_str(), keyword);
    bound[i] = values[j];
  }
  return true;
}

}  // namespace

word invoke(const frame& c) {
  if (c.f.f & passes_gate) return call_behind_gate([&c] { return call_c(c.lib, c.f, c.w); });
  gil_release_for released{c.f.f};
  return call_c(c.lib, c.f, c.w);
}

PyObject* failure(const library& lib, const function& f, int code) {
  if (PyErr_Occurred()) return nullptr;
  return failure_tuple(lib, code, f.outputs);
}

PyObject* call_by_record(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                         PyObject* names) {
  PyObject* bound[max_parameters];
  if (names || n != f.positional) {
    if (!bind_arguments(lib, f, args, n, names, bound)) return nullptr;
    args = bound;
  }
  frame c{lib, f, args};
  int rejected = convert(c);
  if (rejected != none_rejected) return raise_for_argument(f, c.param_at(rejected));
  const handwritten_steps& special = lib.handwritten_of(f);
  if (special.before && !special.before(c)) return nullptr;
  word result = c.skips_call ? 0 : invoke(c);
  if (lib.raises) return result_or_raise(c, result);
  if (f.f & returns_text) return text_result(c, result);
  int code = int(result);
  if (special.after && !special.after(c, code)) return nullptr;
  if (code) return failure(lib, f, code);
  return f.outputs ? outputs_result(c) : success_tuple(lib);
}

PyObject* call(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
               PyObject* names) {
  if (auto own = lib.handwritten_of(f).entry) return own(lib, f, args, n, names);
  return call_by_record(lib, f, args, n, names);
}

bool bind_arguments(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords, PyObject** bound) {
  if (n > f.positional)
    return raise_error(PyExc_TypeError, "%s() takes %d argument%s but %zd %s given", f.name.c_str(),
                       int(f.positional), f.positional == 1 ? "" : "s", n, n == 1 ? "was" : "were");
  for (int i = 0; i < f.positional; ++i) bound[i] = i < n ? args[i] : nullptr;
  if (keywords && !bind_keywords(lib, f, args + n, keywords, bound)) return false;
  for (int i = 0; i < f.required; ++i) {
    if (bound[i]) continue;
    return raise_error(PyExc_TypeError, "%s() missing required argument '%s' (position %d)",
                       f.name.c_str(), parameter_name(f, i), i + 1);
  }
  return true;
}

}  // namespace halfwarp::bindings
