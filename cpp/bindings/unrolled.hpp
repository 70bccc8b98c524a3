// SPDX-License-Identifier: Apache-2.0
// The same call with the kinds of the parameters known to the compiler: for functions that are
// called per launch with all of the record, for the others once for all records of one shape.
#pragma once

#include <utility>

#include "bindings/arguments/keywords.hpp"
#include "bindings/engine.hpp"
#include "bindings/raising/errors.hpp"
#include "bindings/raising/results.hpp"
#include "bindings/thunk.hpp"

namespace halfwarp::bindings {

// How a call reaches its C function: through the thunk of the record, or by its type.
struct by_record {
  static word call(const function& f, void* function, const word* w) { return f.call(function, w); }
};
template <class Caller>
struct by_type {
  static word call(const function&, void* function, const word* w) {
    return Caller::call(function, w);
  }
};

// What the calls of several functions have in common. Everything here is inlined, so that a record
// that is known where it is called from is known here.
template <bool Raises, flags Flags, kind... K>
struct shape {
  template <class Way>
  [[gnu::always_inline]] static PyObject* run(const library& lib, const function& f,
                                              PyObject* const* args) {
    return run<Way>(lib, f, args, std::make_index_sequence<sizeof...(K)>{});
  }

  // What all functions of this shape point to, by way of `shared_entry`.
  [[gnu::noinline]] static PyObject* shared(const library& lib, const function& f,
                                            PyObject* const* args, Py_ssize_t n, PyObject* names) {
    if (names || n != f.positional) [[unlikely]]
      return call_by_record(lib, f, args, n, names);
    return run<by_record>(lib, f, args);
  }

 private:
  static constexpr kind kinds[] = {K..., kind::count_of_parameter_kinds};
  static constexpr int outputs = (0 + ... + int(is_output(K)));
  static constexpr bool has_code = !(Flags & (returns_text | returns_number | returns_nothing));
  static_assert(has_code || Raises, "the tuples of a library begin with the code");

  template <std::size_t I>
  [[gnu::always_inline]] static bool prepare(frame& c, const function& f, int& refused) {
    if (parameter<kinds[I]>::prepare(c, int(I), f.params[I])) [[likely]]
      return true;
    refused = int(I);
    return false;
  }

  template <std::size_t I>
  [[gnu::always_inline]] static bool complete(frame& c, const function& f, int& refused) {
    if constexpr (requires { &parameter<kinds[I]>::complete; }) {
      if (!parameter<kinds[I]>::complete(c, int(I), f.params[I])) {
        refused = int(I);
        return false;
      }
    }
    return true;
  }

  // How many outputs come before the C position.
  static constexpr int output_of(std::size_t position) {
    int found = 0;
    for (std::size_t i = 0; i < position; ++i) found += is_output(kinds[i]);
    return found;
  }

  template <std::size_t I>
  [[gnu::always_inline]] static bool make_result(frame& c, const function& f, PyObject** values,
                                                 int& made) {
    if constexpr (is_output(kinds[I])) {
      constexpr int output = output_of(I);
      values[output] = parameter<kinds[I]>::result(c, int(I), f.params[I], output);
      if (!values[output]) return false;
      made = output + 1;
    }
    return true;
  }

  template <class Way>
  [[gnu::always_inline]] static word invoke(const library& lib, const function& f, const frame& c) {
    void* function = function_of(lib, f);
    lock_release released{Flags};
    return Way::call(f, function, c.w);
  }

  template <class Way, std::size_t... I>
  [[gnu::always_inline]] static PyObject* run(const library& lib, const function& f,
                                              PyObject* const* args, std::index_sequence<I...>) {
    frame c{lib, f, args};
    int refused = 0;
    if (!(prepare<I>(c, f, refused) && ...)) [[unlikely]]
      return raise_for_argument(f, f.params[refused]);
    if constexpr ((Flags & second_pass) != 0) {
      if (!(complete<I>(c, f, refused) && ...)) [[unlikely]]
        return raise_for_argument(f, f.params[refused]);
    }
    word returned = invoke<Way>(lib, f, c);
    if constexpr (!has_code) return result_or_raise(c, returned);
    if (int code = int(returned)) [[unlikely]]
      return Raises ? raise_status(lib, f.name, code, returned) : failure(c, code);
    if constexpr (outputs == 0) {
      return Raises ? Py_NewRef(Py_None) : success_tuple(lib);
    } else {
      return result<I...>(lib, f, c);
    }
  }

  template <std::size_t... I>
  [[gnu::always_inline]] static PyObject* result(const library& lib, const function& f, frame& c) {
    PyObject* values[outputs];
    int made = 0;
    if (!(make_result<I>(c, f, values, made) && ...)) [[unlikely]] {
      while (made--) Py_DECREF(values[made]);
      return nullptr;
    }
    if constexpr (Raises) {
      return unpacked(values, outputs);
    } else if constexpr (outputs == 1) {
      constexpr bool again = ((is_output(K) && recycles(K)) || ...);
      return success_pair(lib, values[0], again);
    } else {
      return success_many(lib, values, outputs);
    }
  }
};

template <const library& Library, int Index>
struct shape_of_record {
  static constexpr const function& f = Library.functions[Index];
  static_assert(!f.special, "a function with a body of its own goes through the engine");

  template <std::size_t... I>
  static auto make(std::index_sequence<I...>)
      -> shape<Library.raises != nullptr, f.f, f.params[I].k...>;
  using type = decltype(make(std::make_index_sequence<f.n>{}));
};
template <const library& Library, int Index>
using shape_of = typename shape_of_record<Library, Index>::type;

// What a function points to that has the call to itself.
template <const library& Library, int Index, class Caller>
PyObject* unrolled_entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  constexpr const function& f = Library.functions[Index];
  if (names || n != f.positional) [[unlikely]]
    return call_by_record(Library, f, args, n, names);
  return shape_of<Library, Index>::template run<by_type<Caller>>(Library, f, args);
}

// What a function points to that shares it.
template <const library& Library, int Index>
PyObject* shared_entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return shape_of<Library, Index>::shared(Library, Library.functions[Index], args, n, names);
}

}  // namespace halfwarp::bindings
