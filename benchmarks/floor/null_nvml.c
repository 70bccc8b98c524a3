/* SPDX-License-Identifier: Apache-2.0
 * A management library that answers at once: what is left of a call is the cost of the binding.
 *
 * cc -O2 -shared -fPIC null_nvml.c -o libnvidia-ml.so.1
 */
#include <stdint.h>
#include <string.h>

enum { SUCCESS = 0, INSUFFICIENT_SIZE = 7, PROCESSES = 3 };

struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct utilization {
  unsigned gpu, memory;
};
struct temperature {
  unsigned version;
  int sensor, temperature;
};
struct pci_info {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};
struct process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

static int number(unsigned* out, unsigned value) {
  *out = value;
  return SUCCESS;
}
static int text(char* out, const char* value) {
  strcpy(out, value);
  return SUCCESS;
}

const char* nvmlErrorString(int status) { return status ? "An error" : "Success"; }
int nvmlInit_v2(void) { return SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
int nvmlDeviceGetCount_v2(unsigned* n) { return number(n, 1); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, uintptr_t* device) {
  *device = 0x10203040 + index;
  return SUCCESS;
}
int nvmlDeviceGetName(void* device, char* name, unsigned n) { return text(name, "NVIDIA H200"); }
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned n) {
  return text(uuid, "GPU-00000000-0000-0000-0000-000000000000");
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* power) { return number(power, 81687); }
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* clock) { return number(clock, 1980); }
int nvmlDeviceGetTemperatureV(void* device, struct temperature* out) {
  out->temperature = 35;
  return SUCCESS;
}
int nvmlDeviceGetUtilizationRates(void* device, struct utilization* out) {
  *out = (struct utilization){97, 40};
  return SUCCESS;
}
int nvmlDeviceGetMemoryInfo_v2(void* device, struct memory_v2* out) {
  *out = (struct memory_v2){out->version, 150754820096, 645005312, 150109814784, 0};
  return SUCCESS;
}
int nvmlDeviceGetPciInfo_v3(void* device, struct pci_info* out) {
  *out = (struct pci_info){"0000:00:06.0", 0, 0, 6, 0x233510de, 0x18bf10de, "00000000:00:06.0"};
  return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* n, struct process* out) {
  const unsigned room = *n;
  *n = PROCESSES;
  if (!out || room < PROCESSES) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < PROCESSES; ++i) out[i] = (struct process){1000 + i, 1 << 30, ~0u, ~0u};
  return SUCCESS;
}
