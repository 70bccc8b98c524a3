// SPDX-License-Identifier: Apache-2.0
// The interpreter of function records.
#include "bindings/engine.hpp"

#include <utility>

#include "bindings/arguments/keywords.hpp"
#include "bindings/raising/results.hpp"

namespace halfwarp::bindings {
namespace {

constexpr int kinds = int(kind::count_of_parameter_kinds);

using preparer = bool (*)(frame&, int, const param&);
using maker = PyObject* (*)(frame&, int, const param&, int output);

template <kind K>
constexpr preparer completer_of() {
  if constexpr (requires { &parameter<K>::complete; }) return &parameter<K>::complete;
  return nullptr;
}

template <kind K>
constexpr maker maker_of() {
  if constexpr (requires { maker{&parameter<K>::result}; }) return &parameter<K>::result;
  return nullptr;
}

// The converters of all kinds, by kind.
struct converter_tables {
  preparer prepare[kinds], complete[kinds];
  maker result[kinds];
};

template <std::size_t... K>
constexpr converter_tables make_tables(std::index_sequence<K...>) {
  return {
      {&parameter<kind(K)>::prepare...}, {completer_of<kind(K)>()...}, {maker_of<kind(K)>()...}};
}
constexpr converter_tables tables = make_tables(std::make_index_sequence<kinds>());

// The C position of a parameter that was refused, -1 when all are converted.
int convert(frame& c) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (!tables.prepare[int(p.k)](c, i, p)) return i;
  }
  if (!(c.f.f & second_pass)) return -1;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    preparer complete = tables.complete[int(p.k)];
    if (complete && !complete(c, i, p)) return i;
  }
  return -1;
}

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
  int made = make_outputs(c, values);
  if (made < 0) return nullptr;
  return made == 1 ? success_pair(c.lib, values[0], recycles(last_output(c)))
                   : success_many(c.lib, values, made);
}

}  // namespace

word invoke(const frame& c) {
  if (c.f.f & passes_gate) return call_behind_gate([&c] { return call_c(c.lib, c.f, c.w); });
  lock_release released{c.f.f};
  return call_c(c.lib, c.f, c.w);
}

int make_outputs(frame& c, PyObject** values) {
  int made = 0;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (!is_output(p.k)) continue;
    values[made] = tables.result[int(p.k)](c, i, p, made);
    if (!values[made]) {
      while (made--) Py_DECREF(values[made]);
      return -1;
    }
    ++made;
  }
  return made;
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
  int refused = convert(c);
  if (refused >= 0) return raise_for_argument(f, c.param_at(refused));
  const body& special = lib.body_of(f);
  if (special.before && !special.before(c)) return nullptr;
  word result = c.is_answered ? 0 : invoke(c);
  if (lib.raises) return result_or_raise(c, result);
  if (f.f & returns_text) return text_result(c, result);
  int code = int(result);
  if (special.after && !special.after(c, code)) return nullptr;
  if (code) return failure(lib, f, code);
  return f.outputs ? outputs_result(c) : success_tuple(lib);
}

PyObject* call(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
               PyObject* names) {
  if (auto own = lib.body_of(f).entry) return own(lib, f, args, n, names);
  return call_by_record(lib, f, args, n, names);
}

}  // namespace halfwarp::bindings
