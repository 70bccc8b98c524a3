// SPDX-License-Identifier: Apache-2.0
// Where the devices come from: the emulated driver that lies beside this library.
#include "emulated_nvml/process/library.hpp"

#include <stdio.h>
#include <time.h>

#include "emulator/control/load_emulator.hpp"

namespace halfwarp::emulated_nvml {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t event_came;

unsigned begun = 0;
unsigned device_count = 0;
nvmlDevice_st devices[most_devices];

namespace {

decltype(halfwarp_emulator_device)* ask_emulator = nullptr;
decltype(halfwarp_emulator_use)* ask_use = nullptr;

void make_condition() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&event_came, &attributes);
  pthread_condattr_destroy(&attributes);
}

void before_fork() { pthread_mutex_lock(&mutex); }
void after_fork() { pthread_mutex_unlock(&mutex); }

// Threads of the parent that wait are not there, and nobody may wait for them.
void after_fork_in_child() {
  make_condition();
  after_fork();
}

// A fork finds no call half done: the child may go on where the parent was.
[[gnu::constructor]] void prepare() {
  make_condition();
  pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);
}

void open_emulator() noexcept {
  void* const emulator =
      load_emulator(reinterpret_cast<const void*>(&find_devices), "the emulated NVML");
  if (!emulator) return;
  ask_use = reinterpret_cast<decltype(ask_use)>(dlsym(emulator, "halfwarp_emulator_use"));
  ask_emulator =
      reinterpret_cast<decltype(ask_emulator)>(dlsym(emulator, "halfwarp_emulator_device"));
}

void write_names(nvmlDevice_st& of) noexcept {
  const unsigned char* b = of.facts.uuid;
  snprintf(of.uuid, sizeof of.uuid,
           "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
           b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
           b[15]);
  snprintf(of.bus_id, sizeof of.bus_id, "%08X:%02X:00.0", of.facts.pci_domain & 0xFFFF,
           of.facts.pci_bus & 0xFF);
}

}  // namespace

nvmlReturn_t find_devices() noexcept {
  if (device_count) return NVML_SUCCESS;
  if (!ask_emulator) open_emulator();
  if (!ask_emulator) return NVML_ERROR_DRIVER_NOT_LOADED;
  unsigned found = 0;
  while (found < most_devices && ask_emulator(static_cast<int>(found), &devices[found].facts)) {
    devices[found].energy_time = seconds_now();
    write_names(devices[found++]);
  }
  device_count = found;
  return found ? NVML_SUCCESS : NVML_ERROR_DRIVER_NOT_LOADED;
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
  return ask_use(static_cast<int>(index_of_device(device)));
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
