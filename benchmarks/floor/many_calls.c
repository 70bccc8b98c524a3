/* SPDX-License-Identifier: Apache-2.0
 * Calls a C function many times through a pointer, like a compiled client that cimports it.
 *
 * cc -O2 -shared -fPIC many_calls.c -o many_calls.so
 */
int many_calls(int (*function)(void**), long count) {
  void* out;
  int code = 0;
  for (long i = 0; i < count; ++i) code |= function(&out);
  return code;
}
