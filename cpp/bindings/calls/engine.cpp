// SPDX-License-Identifier: Apache-2.0
// The interpreter of function records.
#include "bindings/calls/engine.hpp"

#include "bindings/conventions/results.hpp"

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
  int made = make_outputs(c, values);
  if (made < 0) return nullptr;
  return made == 1 ? success_pair(c.lib, values[0], recycles(last_output(c)))
                   : success_many(c.lib, values, made);
}

}  // namespace

word invoke(const frame& c) {
  if (c.f.f & passes_gate) return call_behind_gate([&c] { return call_c(c.lib, c.f, c.w); });
  gil_release released{c.f.f};
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
  int refused = convert(c);
  if (refused >= 0) return raise_for_argument(f, c.param_at(refused));
  const handwritten_steps& special = lib.handwritten_of(f);
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
  if (auto own = lib.handwritten_of(f).entry) return own(lib, f, args, n, names);
  return call_by_record(lib, f, args, n, names);
}

}  // namespace halfwarp::bindings
