/* SPDX-License-Identifier: Apache-2.0 */
/* A library that interposes a system function and finds it by RTLD_NEXT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>

static int depth;

pid_t getppid(void) {
  if (depth++) return -1; /* RTLD_NEXT returned this function */
  pid_t (*const next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");
  return next ? next() : -2;
}
