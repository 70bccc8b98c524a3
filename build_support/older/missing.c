// SPDX-License-Identifier: Apache-2.0
// Functions of newer C libraries that what we compile asks for, made of those that glibc 2.28 has.
// Linked statically and hidden; only a wheel for an older system has them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { nanoseconds = 1000000000 };

// 2.32: false, there may be other threads. libstdc++ then counts references atomically.
const char __libc_single_threaded = 0;

// 2.30
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// 2.33: before it these were static functions, around entries with the version of the structure.
#ifdef __x86_64__
enum { stat_version = 1 };
#else
enum { stat_version = 0 };
#endif
int __fxstat(int version, int file, struct stat* to);
int __xstat(int version, const char* path, struct stat* to);
int fstat(int file, struct stat* to) { return __fxstat(stat_version, file, to); }
int stat(const char* path, struct stat* to) { return __xstat(stat_version, path, to); }

// 2.30: that of the system, where there is one. Else the same moment by the clock of the day, as
// libstdc++ did it: callers look at their own clock again when they wake up.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int waits(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  waits* const own = (waits*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (own) return own(condition, mutex, clock, until);
  struct timespec now, day;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  long long rest = until->tv_nsec - now.tv_nsec + day.tv_nsec;  // -1 to 2 seconds
  day.tv_sec += until->tv_sec - now.tv_sec + rest / nanoseconds;
  rest %= nanoseconds;
  if (rest < 0) {
    rest += nanoseconds;
    --day.tv_sec;
  }
  day.tv_nsec = rest;
  return pthread_cond_timedwait(condition, mutex, &day);
}
