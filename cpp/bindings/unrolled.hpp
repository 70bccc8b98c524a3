// SPDX-License-Identifier: Apache-2.0
// The same call with the record known to the compiler: for functions that are called per launch.
#pragma once

#include <utility>

#include "bindings/arguments/keywords.hpp"
#include "bindings/engine.hpp"
#include "bindings/raising/errors.hpp"
#include "bindings/raising/results.hpp"
#include "bindings/thunk.hpp"

namespace halfwarp::bindings {

template <const library& Library, int Index, class Caller>
struct unrolled {
  static constexpr const function& f = Library.functions[Index];
  static_assert(!f.special, "a function with a body of its own goes through the engine");
  static constexpr bool raises = Library.raises != nullptr;

  static PyObject* entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
    if (names || n != f.positional) [[unlikely]]
      return call_by_record(Library, f, args, n, names);
    return run(args, std::make_index_sequence<f.n>{});
  }

 private:
  template <std::size_t I>
  static constexpr kind kind_of = f.params[I].k;

  // Whether a parameter can do with a frame.
  template <class Frame, std::size_t I>
  static constexpr bool takes = requires(Frame& c, const param& p) {
    parameter<kind_of<I>>::prepare(c, 0, p);
    requires !is_output(kind_of<I>) || requires { parameter<kind_of<I>>::result(c, 0, p, 0); };
  };

  template <class Memory, std::size_t... I>
  using light = light_frame<Library, (f.n ? f.n : 1),
                            ((is_made_before(kind_of<I>) || ...) ? f.outputs : 0), Memory>;

  // The least frame that all parameters can do with.
  template <std::size_t... I>
  static auto make_frame(PyObject* const* args) {
    using lightest = light<frame_without_memory, I...>;
    using lighter = light<frame_memory, I...>;
    if constexpr ((f.f & second_pass) != 0 || raises) {
      return frame{Library, f, args};
    } else if constexpr ((takes<lightest, I> && ...)) {
      return lightest{args};
    } else if constexpr ((takes<lighter, I> && ...)) {
      return lighter{args};
    } else {
      return frame{Library, f, args};
    }
  }

  template <std::size_t I>
  static bool prepare(auto& c, int& refused) {
    constexpr const param& p = f.params[I];
    if (parameter<p.k>::prepare(c, int(I), p)) [[likely]]
      return true;
    refused = int(I);
    return false;
  }

  template <std::size_t I>
  static bool complete(auto& c, int& refused) {
    constexpr const param& p = f.params[I];
    if constexpr (requires { &parameter<p.k>::complete; }) {
      if (!parameter<p.k>::complete(c, int(I), p)) {
        refused = int(I);
        return false;
      }
    }
    return true;
  }

  // How many outputs come before the C position.
  static constexpr int output_of(std::size_t position) {
    int found = 0;
    for (std::size_t i = 0; i < position; ++i) found += is_output(f.params[i].k);
    return found;
  }

  template <std::size_t I>
  static bool make_result(auto& c, PyObject** values, int& made) {
    constexpr const param& p = f.params[I];
    if constexpr (is_output(p.k)) {
      constexpr int output = output_of(I);
      values[output] = parameter<p.k>::result(c, int(I), p, output);
      if (!values[output]) return false;
      made = output + 1;
    }
    return true;
  }

  static word invoke(const word* w) {
    void* function = function_of(Library, f);
    if constexpr (!(f.f & releases_gil)) {
      return Caller::call(function, w);
    } else {
      PyThreadState* state = PyEval_SaveThread();
      word result = Caller::call(function, w);
      PyEval_RestoreThread(state);
      return result;
    }
  }

  template <std::size_t... I>
  static PyObject* run(PyObject* const* args, std::index_sequence<I...>) {
    auto c = make_frame<I...>(args);
    int refused = 0;
    if (!(prepare<I>(c, refused) && ...)) [[unlikely]]
      return raise_for_argument(f, f.params[refused]);
    if constexpr ((f.f & second_pass) != 0) {
      if (!(complete<I>(c, refused) && ...)) [[unlikely]]
        return raise_for_argument(f, f.params[refused]);
    }
    word returned = invoke(c.w);
    if constexpr (raises && !returns_code(f)) return result_or_raise(c, returned);
    if (int code = int(returned)) [[unlikely]]
      return raises ? raise_status(Library, f.name, code, returned) : failure(Library, f, code);
    if constexpr (f.outputs == 0) {
      return raises ? Py_NewRef(Py_None) : success_tuple(Library);
    } else {
      return result<I...>(c);
    }
  }

  template <std::size_t... I>
  static PyObject* result(auto& c) {
    PyObject* values[f.outputs];
    int made = 0;
    if (!(make_result<I>(c, values, made) && ...)) [[unlikely]] {
      while (made--) Py_DECREF(values[made]);
      return nullptr;
    }
    if constexpr (raises) {
      return unpacked(values, f.outputs);
    } else if constexpr (f.outputs == 1) {
      constexpr bool again = ((is_output(kind_of<I>) && recycles(kind_of<I>)) || ...);
      return success_pair(Library, values[0], again);
    } else {
      return success_many(Library, values, f.outputs);
    }
  }
};

}  // namespace halfwarp::bindings
