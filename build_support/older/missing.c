// SPDX-License-Identifier: Apache-2.0
// Functions of newer C libraries that our code calls, implemented with functions of glibc 2.28.
// Linked statically and hidden, into wheels for older systems only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { nanoseconds = 1000000000 };

// 2.32: false, so libstdc++ assumes other threads and counts references atomically.
const char __libc_single_threaded = 0;

// 2.30
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// 2.33: before, these were static functions that passed the version of the structure.
#ifdef __x86_64__
enum { stat_version = 1 };
#else
enum { stat_version = 0 };
#endif
int __fxstat(int version, int file, struct stat* to);
int __xstat(int version, const char* path, struct stat* to);
int fstat(int file, struct stat* to) { return __fxstat(stat_version, file, to); }
int stat(const char* path, struct stat* to) { return __xstat(stat_version, path, to); }

// 2.38: its headers redirect strtol to __isoc23_strtol, which also parses 0b101. The old functions
// are declared by symbol name, because the headers would redirect them here too.
long old_strtol(const char*, char**, int) __asm__("strtol");
unsigned long old_strtoul(const char*, char**, int) __asm__("strtoul");
long long old_strtoll(const char*, char**, int) __asm__("strtoll");
unsigned long long old_strtoull(const char*, char**, int) __asm__("strtoull");
int old_vsscanf(const char*, const char*, va_list) __asm__("__isoc99_vsscanf");
long __isoc23_strtol(const char* text, char** end, int base) { return old_strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
  return old_strtoul(text, end, base);
}
long long __isoc23_strtoll(const char* text, char** end, int base) {
  return old_strtoll(text, end, base);
}
unsigned long long __isoc23_strtoull(const char* text, char** end, int base) {
  return old_strtoull(text, end, base);
}
int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list to;
  va_start(to, format);
  const int count = old_vsscanf(text, format, to);
  va_end(to);
  return count;
}

// 2.30: calls the system's function if there is one. Otherwise converts the deadline to the
// real-time clock, as libstdc++ did: callers check their own clock when they wake up.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int waits(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  waits* const system_function = (waits*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (system_function) return system_function(condition, mutex, clock, until);
  struct timespec now, day;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  long long remainder = until->tv_nsec - now.tv_nsec + day.tv_nsec;  // -1 to 2 seconds
  day.tv_sec += until->tv_sec - now.tv_sec + remainder / nanoseconds;
  remainder %= nanoseconds;
  if (remainder < 0) {
    remainder += nanoseconds;
    --day.tv_sec;
  }
  day.tv_nsec = remainder;
  return pthread_cond_timedwait(condition, mutex, &day);
}
