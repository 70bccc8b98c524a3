/* SPDX-License-Identifier: Apache-2.0 */
/* C functions of the emulator beyond the driver's API; cuda.core.emulation looks them up by name.
   They bypass the gate: they work in broken contexts, are not counted as calls and never fail by
   fault injection. Texts are UTF-8. A function that writes a text returns its whole length and
   writes as much as fits, terminated by a NUL. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 once cuInit has succeeded in this process. */
int halfwarp_emulator_is_active(void);

/* Returns 1 once the notice was written. The options cannot change after that. */
int halfwarp_emulator_is_announced(void);

/* Writes the reason why the options in the environment are rejected, or an empty text. */
size_t halfwarp_emulator_option_problem(char* text, size_t size);

/* Returns 1 and writes the canonical spelling of the value, or returns 0 and writes the reason. */
int halfwarp_emulator_check_option(const char* name, const char* value, char* text, size_t size);

/* Writes JSON: the values of the device attributes by number, for each compute capability. */
size_t halfwarp_emulator_device_table(char* text, size_t size);

/* Write JSON objects: the options; counts of calls, objects, launches, reports; the live objects;
   the last fault or null. All but the options need cuInit and are "null" before it. */
size_t halfwarp_emulator_options(char* text, size_t size);
size_t halfwarp_emulator_stats(char* text, size_t size);
size_t halfwarp_emulator_leaks(char* text, size_t size);
size_t halfwarp_emulator_last_fault(char* text, size_t size);
/* Writes a JSON array of the faults since the last repair or reset, at most 100. */
size_t halfwarp_emulator_faults(char* text, size_t size);

/* Writes a JSON array of the suppressions that matched no report, with their places. The process
   does not tell them again when it ends. */
size_t halfwarp_emulator_unused_suppressions(char* text, size_t size);

/* Writes a JSON array of the writers of a range of device memory, with option check=race. */
size_t halfwarp_emulator_origins(uint64_t address, uint64_t bytes, char* text, size_t size);

/* Opens a session that counts what kernels execute: with detail 1 instructions and branches, with
   detail 2 accesses of memory also. Needs no cuInit. Returns its id, which is not 0. Launches of
   equal kernels are added up, unless `is_merged` is 0. */
uint64_t halfwarp_emulator_profile_open(int detail, int is_merged);
/* Writes a JSON object: the kernels that ended since then. */
size_t halfwarp_emulator_profile_read(uint64_t session, char* text, size_t size);
void halfwarp_emulator_profile_close(uint64_t session);

/* Writes the reason for a code that the calling thread has just received: the reason of a refusal,
   or the first line of the last fault. Empty if there is none. */
size_t halfwarp_emulator_error_text(int code, char* text, size_t size);

/* Selects what stream 0 means in calls of this thread: 1 the per-thread default stream, 0 the
   legacy one. Returns the previous selection. */
int halfwarp_emulator_select_per_thread_streams(int is_selected);

/* Lets the link of a CUlinkState succeed with undefined functions, as in a program that is linked
   already. A launch that reaches one is refused. Returns 1, or 0 for another handle. */
int halfwarp_emulator_allow_undefined(void* link_state);

/* Waits for the work of all contexts. */
void halfwarp_emulator_settle(void);

/* Clears the last fault and makes broken contexts and their objects usable again. Returns 1 if a
   context was broken. */
int halfwarp_emulator_repair(void);

/* Replaces all contexts; clears faults, fault rules and counts of calls. */
void halfwarp_emulator_reset(void);

/* Adds fault rules. Returns the id of the last one, or 0 and writes the reason to `text`. */
uint64_t halfwarp_emulator_arm(const char* rules, char* text, size_t size);
/* Removes a rule. Returns how often it fired, and in `seen` how many calls matched it. */
uint64_t halfwarp_emulator_disarm(uint64_t rule, uint64_t* seen);

/* Sets the function that names call sites for option `trace=site`; see object/current_call.hpp. */
void halfwarp_emulator_set_call_site_source(int (*source)(char* text, int size));

/* Returns the replacement of a function of NVRTC or nvJitLink, whose output can be emulated, or
   `real` if there is none. `function` is its exported name. */
void* halfwarp_emulator_in_place_of(const char* function, void* real);

/* Sets the function that receives a JSON object about each program that NVRTC compiles;
   see control/compile_observer.hpp. Null ends the reports. */
void halfwarp_emulator_observe_compiles(void (*observer)(const char* json, size_t size));

/* Returns the counts of the marks that kernels have executed, by number, as a JSON array;
   see exec/marks.hpp. */
size_t halfwarp_emulator_mark_counts(char* text, size_t size);

/* Names the PTX text of a cubin that another compiler wrote; it has the lines of the source. */
void halfwarp_emulator_register_cubin(const void* cubin, size_t size, const char* ptx);

/* Makes modules of one PTX text execute another one, whose kernels have the same names. */
void halfwarp_emulator_substitute_ptx(const char* ptx, const char* substitute);

/* Marks the object of a driver handle as owned by the package, so that no leak is reported. */
void halfwarp_emulator_own(const void* handle);

/* Describes a device to the management library. Needs no cuInit; writes the notice, as the first
   call of the driver does. */
struct halfwarp_emulated_device {
  char name[64];
  unsigned char uuid[16];
  unsigned pci_domain, pci_bus;
  int major, minor;
  int multiprocessors;
  int cuda_version;      /* the driver version, 13050 */
  int memory_bus_width;  /* bits */
  uint64_t memory_total; /* bytes */
};

/* Returns 1, or 0 if there is no such device or the options are invalid. */
int halfwarp_emulator_device(int ordinal, struct halfwarp_emulated_device* device);

/* Returns the use of a device by this process: bytes, and whether it has memory or a context there.
   Zero before cuInit and in a child process of the process that uses the device. */
struct halfwarp_emulated_use {
  uint64_t bytes;
  int is_used;
};

struct halfwarp_emulated_use halfwarp_emulator_use(int number);

/* Registers a buffer of `bytes` bytes or an image of a graphics library under `name`; with all
   values 0 removes it. `format` is a CUarray_format. */
void halfwarp_emulator_graphics_object(unsigned name, uint64_t bytes, uint64_t width,
                                       uint64_t height, int format, unsigned channels);

/* An operation of a communication library in a stream, which waits for other ranks. Texts and
   ranges are copied. */
struct halfwarp_exchange_range {
  uint64_t address, bytes;
  int is_write;
};

enum halfwarp_exchange_outcome {
  halfwarp_exchange_done,
  halfwarp_exchange_waits, /* the emulator calls again */
  halfwarp_exchange_failed /* the next synchronizing call returns `code` */
};

struct halfwarp_exchange {
  const char* title;
  int device; /* the ordinal of the device that accesses the ranges */
  const struct halfwarp_exchange_range* ranges;
  size_t range_count;
  void* data;
  /* Returns the state of one execution; executable graphs may run several at once. */
  void* (*begin)(void* data);
  /* Advances an execution and returns a halfwarp_exchange_outcome; may sleep for a moment if
     `may_sleep`. `views` are the host addresses of the ranges. On failure sets `code` to a
     CUresult. */
  unsigned (*step)(void* execution, unsigned char* const* views, int may_sleep, int* code);
  /* Ends an execution. `is_complete` is 0 if the emulator gave up: a fault of a range, or the
     context ended. */
  void (*end)(void* execution, int is_complete);
  void (*release)(void* data); /* called once, when no execution can follow */
};

/* Enqueues the operation in a stream of the current context, or captures it. Returns a CUresult; on
   failure `release` is not called. */
int halfwarp_emulator_enqueue_exchange(void* stream, const struct halfwarp_exchange* source);

/* Returns the value of option nccl_limit. */
unsigned halfwarp_emulator_nccl_limit(void);

/* Writes a line of kind `kind` to the destination of reports. */
void halfwarp_emulator_report(const char* kind, const char* text);

/* Returns the start of a process in ticks since boot, or 0 if it has ended. Number and start
   together identify a process. */
uint64_t halfwarp_emulator_process_start(int number);

#ifdef __cplusplus
}
#endif
