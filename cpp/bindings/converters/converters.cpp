// SPDX-License-Identifier: Apache-2.0
// Tables of all converters by kind, for calls whose record the compiler does not know.
#include "bindings/converters/face_kinds.hpp"

#include <utility>

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

}  // namespace

int convert(frame& c) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (!tables.prepare[int(p.k)](c, i, p)) return i;
  }
  if (!(c.f.f & second_pass)) return none_rejected;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    preparer complete = tables.complete[int(p.k)];
    if (complete && !complete(c, i, p)) return i;
  }
  return none_rejected;
}

int make_outputs(frame& c, PyObject** values) {
  int count = 0;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (!is_output(p.k)) continue;
    values[count] = tables.result[int(p.k)](c, i, p, count);
    if (!values[count]) {
      while (count--) Py_DECREF(values[count]);
      return failed;
    }
    ++count;
  }
  return count;
}

}  // namespace halfwarp::bindings
