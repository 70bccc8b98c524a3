// SPDX-License-Identifier: Apache-2.0
// Reads the devices from the emulated driver in the folder of this library.
#include "emulated_nvml/process/library.hpp"

#include <stdio.h>
#include <time.h>

#include "emulator/control/load_emulator.hpp"

namespace halfwarp::emulated_nvml {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t event_posted;

unsigned init_count = 0;
unsigned device_count = 0;
nvmlDevice_st devices[max_devices];

namespace {

decltype(halfwarp_emulator_device)* query_device = nullptr;
decltype(halfwarp_emulator_use)* query_use = nullptr;

void make_condition() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&event_posted, &attributes);
  pthread_condattr_destroy(&attributes);
}

void before_fork() { pthread_mutex_lock(&mutex); }
void after_fork() { pthread_mutex_unlock(&mutex); }

// The waiting threads of the parent do not exist in the child process, so the condition is reset.
void after_fork_in_child() {
  make_condition();
  after_fork();
}

// A fork waits for calls in progress, so that the child process can use the library.
[[gnu::constructor]] void prepare() {
  make_condition();
  pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);
}

void open_emulator() noexcept {
  void* const emulator =
      load_emulator(reinterpret_cast<const void*>(&find_devices), "the emulated NVML");
  if (!emulator) return;
  query_use = reinterpret_cast<decltype(query_use)>(dlsym(emulator, "halfwarp_emulator_use"));
  query_device =
      reinterpret_cast<decltype(query_device)>(dlsym(emulator, "halfwarp_emulator_device"));
}

void format_ids(nvmlDevice_st& target) noexcept {
  const unsigned char* b = target.facts.uuid;
  snprintf(target.uuid, sizeof target.uuid,
           "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
           b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
           b[15]);
  snprintf(target.bus_id, sizeof target.bus_id, "%08X:%02X:00.0", target.facts.pci_domain & 0xFFFF,
           target.facts.pci_bus & 0xFF);
}

}  // namespace

nvmlReturn_t find_devices() noexcept {
  if (device_count) return NVML_SUCCESS;
  if (!query_device) open_emulator();
  if (!query_device) return NVML_ERROR_DRIVER_NOT_LOADED;
  unsigned count = 0;
  while (count < max_devices && query_device(static_cast<int>(count), &devices[count].facts)) {
    devices[count].energy_time = seconds_now();
    format_ids(devices[count++]);
  }
  device_count = count;
  return count ? NVML_SUCCESS : NVML_ERROR_DRIVER_NOT_LOADED;
}

bool is_device(nvmlDevice_t device) noexcept {
  for (unsigned i = 0; i < device_count; ++i) {
    if (device == &devices[i]) return true;
  }
  return false;
}

unsigned index_of_device(nvmlDevice_t device) noexcept {
  return static_cast<unsigned>(device - devices);
}

halfwarp_emulated_use use_of(nvmlDevice_t device) noexcept {
  return query_use(static_cast<int>(index_of_device(device)));
}

double energy_of(nvmlDevice_t device) noexcept {
  const double now = seconds_now();
  device->energy +=
      static_cast<double>(device->sensors[sensor::power]) * (now - device->energy_time);
  device->energy_time = now;
  return device->energy;
}

double seconds_now() noexcept {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace halfwarp::emulated_nvml
