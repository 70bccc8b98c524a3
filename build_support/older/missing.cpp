// SPDX-License-Identifier: Apache-2.0
// Functions of newer C++ libraries that headers of libstdc++, or the compiler itself, call.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

namespace std {

void __throw_bad_array_new_length() { throw bad_array_new_length{}; }  // GCC 11

// GCC 12: reports a failed assertion of a build with assertions.
[[noreturn]] void __glibcxx_assert_fail(const char* file, int line, const char* function,
                                        const char* condition) noexcept {
  fprintf(stderr, "%s:%d: %s: Assertion '%s' failed.\n", file, line, function, condition);
  abort();
}

// GCC 13: its headers expect these in the library.
template bool string::starts_with(string_view) const noexcept;
template bool string::starts_with(const char*) const;
template bool string::ends_with(string_view) const noexcept;
template bool string::ends_with(char) const noexcept;
template bool string::ends_with(const char*) const;
#if _GLIBCXX_RELEASE >= 13
template void string::_M_replace_cold(char*, size_t, const char*, size_t, size_t);
#endif

}  // namespace std

// GCC 14: an exception left a noexcept function.
extern "C" [[noreturn]] void __cxa_call_terminate(void* thrown) noexcept {
  if (thrown) __cxxabiv1::__cxa_begin_catch(thrown);
  std::terminate();
}
