/* SPDX-License-Identifier: Apache-2.0 */
/* A library that stands before a function of the system, which it finds as the next of that name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>

static int depth;

pid_t getppid(void) {
  if (depth++) return -1; /* found itself */
  pid_t (*const next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");
  return next ? next() : -2;
}
