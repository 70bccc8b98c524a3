/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulator offers beyond the driver's API: C functions that cuda.core.emulation finds by
   name. None passes the gate: they work in broken contexts, count as no call and never fail by
   injection. Texts are UTF-8; a function that writes one returns the length of the whole text, and
   writes as much as fits, ended by a NUL. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 once cuInit has succeeded in this process. */
int halfwarp_emulator_is_active(void);

/* 1 once the notice was written, and with it the options hold. */
int halfwarp_emulator_is_announced(void);

/* What is wrong with the options in the environment; empty: nothing. */
size_t halfwarp_emulator_option_problem(char* text, size_t size);

/* Whether an option takes a value: 1 and its canonical spelling, or 0 and what is wrong. */
int halfwarp_emulator_check_option(const char* name, const char* value, char* text, size_t size);

/* JSON: for each compute capability the values of the device attributes, by their number. */
size_t halfwarp_emulator_device_table(char* text, size_t size);

/* JSON objects: the options; counts of calls, objects, launches, reports; what is alive; the last
   fault, or null. All but the first need cuInit and are "null" before. */
size_t halfwarp_emulator_options(char* text, size_t size);
size_t halfwarp_emulator_stats(char* text, size_t size);
size_t halfwarp_emulator_leaks(char* text, size_t size);
size_t halfwarp_emulator_last_fault(char* text, size_t size);
/* JSON array of the faults since the last repair or reset, at most 100. */
size_t halfwarp_emulator_faults(char* text, size_t size);

/* What lies behind a code that the calling thread has just got: the reason of a refusal, or the
   first line of the last fault; empty when there is no more to say. */
size_t halfwarp_emulator_error_text(int code, char* text, size_t size);

/* Waits for all work of all contexts. */
void halfwarp_emulator_settle(void);

/* Forgets the last fault, and makes broken contexts usable again with all that is in them; 1 when a
   context was broken. */
int halfwarp_emulator_repair(void);

/* Fresh contexts; faults, fault rules and counts of calls forgotten. */
void halfwarp_emulator_reset(void);

/* Adds fault rules; the id of the last one, or 0 and the reason in `text`. */
uint64_t halfwarp_emulator_arm(const char* rules, char* text, size_t size);
/* Removes a rule; how often it fired, and in `seen` how many calls it looked at. */
uint64_t halfwarp_emulator_disarm(uint64_t rule, uint64_t* seen);

/* Who names the call sites of option `trace=site`; see object/current_call.hpp. */
void halfwarp_emulator_set_call_site_source(int (*source)(char* text, int size));

/* What calls of a function of NVRTC or nvJitLink go to in place of `real`, so that what it makes can
   be emulated: a function of ours, or `real`. `function` is its name as the library exports it. */
void* halfwarp_emulator_in_place_of(const char* function, void* real);

/* The object behind a driver handle belongs to the package, not to the program: no leak. */
void halfwarp_emulator_own(const void* handle);

/* What the management library tells of a device. Needs no cuInit; writes the notice, as a first
   call of the driver does. */
struct halfwarp_emulated_device {
  char name[64];
  unsigned char uuid[16];
  unsigned pci_domain, pci_bus;
  int major, minor;
  int multiprocessors;
  int cuda_version;      /* of the driver: 13050 */
  int memory_bus_width;  /* bits */
  uint64_t memory_total; /* bytes */
};

/* 1, or 0 when there is no device of that number, or the options are not understood. */
int halfwarp_emulator_device(int ordinal, struct halfwarp_emulated_device* device);

/* What this process uses of such a device: bytes, and whether it has memory or a context there.
   Nothing before cuInit, and in a child of the process that uses it. */
struct halfwarp_emulated_use {
  uint64_t bytes;
  int is_used;
};

struct halfwarp_emulated_use halfwarp_emulator_use(int ordinal);

/* What the emulator takes for a buffer of so many bytes, or for an image, of a graphics library, by
   the name that one would give it; all 0: there is no such thing any more. `format` is a
   CUarray_format. */
void halfwarp_emulator_graphics_object(unsigned name, uint64_t bytes, uint64_t width,
                                       uint64_t height, int format, unsigned channels);

#ifdef __cplusplus
}
#endif
