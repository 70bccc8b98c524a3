// SPDX-License-Identifier: Apache-2.0
// Functions of newer C++ libraries that headers of libstdc++ call.
#include <new>

namespace std {

void __throw_bad_array_new_length() { throw bad_array_new_length{}; }  // GCC 11

}  // namespace std
