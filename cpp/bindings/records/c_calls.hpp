// SPDX-License-Identifier: Apache-2.0
// Calls C functions with words as arguments, and derives kinds of C scalars. Both use the types of
// the header.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

template <class T>
T from_word(word w) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(w);
  } else if constexpr (std::is_floating_point_v<T>) {
    T value;
    std::memcpy(&value, &w, sizeof value);
    return value;
  } else if constexpr (std::is_class_v<T> || std::is_union_v<T>) {
    return *reinterpret_cast<const T*>(w);  // a struct by value is passed as its address
  } else {
    return static_cast<T>(w);
  }
}

// Whether functions return a struct as their result code: eight bytes that begin with the code.
template <class R>
inline constexpr bool is_status = false;

template <class R>
word to_word(R result) {
  if constexpr (is_status<R>) {
    static_assert(sizeof(R) == sizeof(word));
    return std::bit_cast<word>(result);
  } else if constexpr (std::is_pointer_v<R>) {
    return reinterpret_cast<word>(result);
  } else if constexpr (std::is_enum_v<R>) {
    return static_cast<word>(static_cast<int>(result));  // keeps the sign
  } else {
    return static_cast<word>(result);
  }
}

// Thunk of a C function type; functions with the same type share it.
template <class F>
struct caller;
template <class R, class... A>
struct caller<R (*)(A...)> {
  // A struct returned by value is written to the address in one more word, like an output.
  static constexpr bool returns_struct =
      (std::is_class_v<R> || std::is_union_v<R>) && !is_status<R>;
  static constexpr int arity = sizeof...(A) + returns_struct;
  static word call(void* function, const word* w) {
    return call(function, w, std::index_sequence_for<A...>{});
  }

 private:
  template <std::size_t... I>
  static word call(void* function, const word* w, std::index_sequence<I...>) {
    auto typed = reinterpret_cast<R (*)(A...)>(function);
    if constexpr (returns_struct) {
      *reinterpret_cast<R*>(w[sizeof...(A)]) = typed(from_word<A>(w[I])...);
      return 0;
    } else if constexpr (std::is_void_v<R>) {
      typed(from_word<A>(w[I])...);
      return 0;
    } else {
      return to_word(typed(from_word<A>(w[I])...));
    }
  }
};

// Returns the kind of a C number: its width and sign in the header.
template <class T>
constexpr kind scalar_kind() {
  using V = std::remove_cv_t<std::remove_reference_t<T>>;
  if constexpr (std::is_floating_point_v<V>) {
    return sizeof(V) == 4 ? kind::f32 : kind::f64;
  } else {
    constexpr int log2[] = {0, 0, 1, 1, 2, 2, 2, 2, 3};
    return kind(2 * log2[sizeof(V)] + (std::is_signed_v<V> ? 0 : 1));
  }
}

// Returns the kind of the elements of an array that a C function fills.
template <class T>
constexpr kind array_kind() {
  if constexpr (std::is_pointer_v<T>) {
    return kind::address;
  } else if constexpr (std::is_enum_v<T>) {
    return scalar_kind<std::underlying_type_t<T>>();
  } else {
    return scalar_kind<T>();
  }
}

// Element type of an array member: T of T[n].
template <class T>
using element_of = std::remove_extent_t<std::remove_reference_t<T>>;

// Returns the kind of an output cell for a C number.
template <class T>
constexpr kind scalar_output_kind() {
  constexpr kind k = scalar_kind<T>();
  static_assert(k >= kind::i32, "no output cells narrower than an int");
  return kind(int(kind::out_i32) + int(k) - int(kind::i32));
}

// Kind of a handle, by the width of its value.
template <class T>
inline constexpr kind handle_kind = sizeof(T) == 4 ? kind::handle32 : kind::handle64;
template <class T>
inline constexpr kind handle_list_kind = sizeof(T) == 4 ? kind::list_handle32 : kind::list_handle64;
template <class T>
inline constexpr kind short_list_kind =
    sizeof(T) == 4 ? kind::short_list_handle32 : kind::short_list_handle64;

// Initial value of a struct that has a constructor in C++, itself or in a member (`dim3`).
template <class T>
inline constexpr T constructed{};
template <class T>
constexpr const void* initial_value() {
  if constexpr (std::is_default_constructible_v<T> && !std::is_trivially_default_constructible_v<T>)
    return &constructed<T>;
  return nullptr;
}

// Returns the C function of a slot. An unfilled slot holds a resolver, which may set a Python
// error. The loader's barrier publishes the library (publish_library).
inline void* function_of(const library& lib, const function& f) {
  return __atomic_load_n(&lib.state->slots[f.slot], __ATOMIC_RELAXED);
}

// Makes the C call with words as arguments.
inline word call_c(const library& lib, const function& f, const word* arguments) {
  return lib.thunks[f.caller](function_of(lib, f), arguments);
}

// Opens the library if it is not open. Returns 1 if it has the function, 0 if not, -1 with a Python
// error set if the library is missing.
int has_function(const library& lib, const function& f);

static_assert(scalar_kind<int>() == kind::i32 && scalar_kind<unsigned long long>() == kind::u64);
static_assert(scalar_output_kind<double>() == kind::out_f64 &&
              scalar_output_kind<unsigned>() == kind::out_u32);

}  // namespace halfwarp::bindings
