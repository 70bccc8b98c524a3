// SPDX-License-Identifier: Apache-2.0
// Calls with parameter kinds known to the compiler. Functions that programs call per launch are
// specialized by their whole record; the others share one form per shape.
#pragma once

#include <utility>

#include "bindings/calls/engine.hpp"
#include "bindings/conventions/results.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/records/c_calls.hpp"

namespace halfwarp::bindings {

// Calls a C function through the thunk of its record, or by its type. If the library is known at
// compile time, a lighter frame suffices.
struct by_record {
  static word call(const library& lib, const function& f, const word* w) {
    return call_c(lib, f, w);
  }
};
template <const library& Library, class Caller>
struct by_type {
  template <int Parameters, int Outputs, class Memory>
  using light = light_frame<Library, Parameters, Outputs, Memory>;

  static word call(const library& lib, const function& f, const word* w) {
    return Caller::call(function_of(lib, f), w);
  }
};

template <class Dispatch>
concept has_light_frames =
    requires { typename Dispatch::template light<1, 0, frame_without_memory>; };

// Call of all functions with these parameter kinds. All of it is inlined, so that a constant record
// of the caller stays a constant here.
template <bool Raises, function_flags Flags, kind... K>
struct shape {
  template <class Dispatch>
  [[gnu::always_inline]] static PyObject* run(const library& lib, const function& f,
                                              PyObject* const* args) {
    return run<Dispatch>(lib, f, args, std::make_index_sequence<sizeof...(K)>{});
  }

  // Call shared by all functions of this shape; `shared_entry` calls it.
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
  static_assert(has_code || Raises, "result tuples begin with the code");

  // Whether the converter of a parameter works with a frame type.
  template <class Frame, kind k>
  static constexpr bool accepts = requires(Frame& c, const param& p) {
    parameter<k>::prepare(c, 0, p);
    requires !is_output(k) || requires { parameter<k>::result(c, 0, p, 0); };
  };

  static constexpr int words = sizeof...(K) ? sizeof...(K) : 1;
  static constexpr int objects = (exists_before_call(K) || ...) ? outputs : 0;

  // Creates the smallest frame that works for all parameters.
  template <class Dispatch>
  [[gnu::always_inline]] static auto make_frame(const library& lib, const function& f,
                                                PyObject* const* args) {
    if constexpr (has_light_frames<Dispatch> && has_code && !(Flags & second_pass)) {
      using lightest = typename Dispatch::template light<words, objects, frame_without_memory>;
      using lighter = typename Dispatch::template light<words, objects, frame_memory>;
      if constexpr ((accepts<lightest, K> && ...)) {
        return lightest{args};
      } else if constexpr ((accepts<lighter, K> && ...)) {
        return lighter{args};
      } else {
        return frame{lib, f, args};
      }
    } else {
      return frame{lib, f, args};
    }
  }

  template <std::size_t I>
  [[gnu::always_inline]] static bool prepare(auto& c, const param& p, int& rejected) {
    if (parameter<kinds[I]>::prepare(c, int(I), p)) [[likely]]
      return true;
    rejected = int(I);
    return false;
  }

  template <std::size_t I>
  [[gnu::always_inline]] static bool complete(auto& c, const param& p, int& rejected) {
    if constexpr (requires { &parameter<kinds[I]>::complete; }) {
      if (!parameter<kinds[I]>::complete(c, int(I), p)) {
        rejected = int(I);
        return false;
      }
    }
    return true;
  }

  // Returns the number of outputs before a C position.
  static constexpr int output_of(std::size_t position) {
    int count = 0;
    for (std::size_t i = 0; i < position; ++i) count += is_output(kinds[i]);
    return count;
  }

  template <std::size_t I>
  [[gnu::always_inline]] static bool make_result(auto& c, const param& p, PyObject** values,
                                                 int& count) {
    if constexpr (is_output(kinds[I])) {
      constexpr int output = output_of(I);
      values[output] = parameter<kinds[I]>::result(c, int(I), p, output);
      if (!values[output]) return false;
      count = output + 1;
    }
    return true;
  }

  template <class Dispatch>
  [[gnu::always_inline]] static word invoke(const library& lib, const function& f, const word* w) {
    if constexpr ((Flags & passes_gate) != 0) {
      return call_behind_gate([&] { return Dispatch::call(lib, f, w); });
    } else {
      gil_release_for released{Flags};
      return Dispatch::call(lib, f, w);
    }
  }

  template <class Dispatch, std::size_t... I>
  [[gnu::always_inline]] static PyObject* run(const library& lib, const function& f,
                                              PyObject* const* args, std::index_sequence<I...>) {
    auto c = make_frame<Dispatch>(lib, f, args);
    int rejected = 0;
    if (!(prepare<I>(c, lib.param_of(f, I), rejected) && ...)) [[unlikely]]
      return raise_for_argument(f, lib.param_of(f, rejected));
    if constexpr ((Flags & second_pass) != 0) {
      if (!(complete<I>(c, lib.param_of(f, I), rejected) && ...)) [[unlikely]]
        return raise_for_argument(f, lib.param_of(f, rejected));
    }
    word returned = invoke<Dispatch>(lib, f, c.w);
    if constexpr (!has_code) return result_or_raise(c, returned);
    if (int code = int(returned)) [[unlikely]]
      return Raises ? raise_status(lib, f.name, code, returned) : failure(lib, f, code);
    if constexpr (outputs == 0) {
      return Raises ? Py_NewRef(Py_None) : success_tuple(lib);
    } else {
      return result<I...>(lib, f, c);
    }
  }

  template <std::size_t... I>
  [[gnu::always_inline]] static PyObject* result(const library& lib, const function& f, auto& c) {
    PyObject* values[outputs];
    int count = 0;
    if (!(make_result<I>(c, lib.param_of(f, I), values, count) && ...)) [[unlikely]] {
      while (count--) Py_DECREF(values[count]);
      return nullptr;
    }
    if constexpr (Raises) {
      return unpacked(values, outputs);
    } else if constexpr (outputs == 1) {
      constexpr bool recyclable = ((is_output(K) && recycles(K)) || ...);
      return success_pair(lib, values[0], recyclable);
    } else {
      return success_many(lib, values, outputs);
    }
  }
};

template <const library& Library, int Index>
struct shape_of_record {
  static constexpr const function& f = Library.functions[Index];
  static_assert(!f.handwritten, "a function with handwritten steps needs the engine");

  template <std::size_t... I>
  static auto make(std::index_sequence<I...>)
      -> shape<Library.raises != nullptr, f.f, Library.param_of(f, I).k...>;
  using type = decltype(make(std::make_index_sequence<f.n>{}));
};
template <const library& Library, int Index>
using shape_of = typename shape_of_record<Library, Index>::type;

// Entry point of a function with a specialized form of its own.
template <const library& Library, int Index, class Caller>
PyObject* specialized_entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  constexpr const function& f = Library.functions[Index];
  if (names || n != f.positional) [[unlikely]]
    return call_by_record(Library, f, args, n, names);
  return shape_of<Library, Index>::template run<by_type<Library, Caller>>(Library, f, args);
}

// Entry point of a function that shares the form of its shape.
template <const library& Library, int Index>
PyObject* shared_entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return shape_of<Library, Index>::shared(Library, Library.functions[Index], args, n, names);
}

}  // namespace halfwarp::bindings
