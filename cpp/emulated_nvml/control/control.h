/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulated NVML offers beyond NVML's API: C functions that cuda.core.emulation finds by
   name. They need no nvmlInit. Devices are given by their index. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name of a sensor by its number, or null after the last one. */
const char* halfwarp_nvml_sensor(unsigned number);

/* Reads or sets a sensor: 1; 0 when there is no such device or sensor; -1 when the value is not
   within `least` and `most`, which are always told when the sensor exists. */
int halfwarp_nvml_read(unsigned device, const char* sensor, long long* value);
int halfwarp_nvml_set(unsigned device, const char* sensor, long long value, long long* least,
                      long long* most);

/* All sensors of all devices as at the beginning; waiting events are forgotten. */
void halfwarp_nvml_reset(void);

/* Something happens to a device: of these types (nvmlEventType..., or nvmlSystemEventType...). How
   many event sets were told; -1 when there is no such device. */
int halfwarp_nvml_post(unsigned device, unsigned long long type, unsigned long long data,
                       int is_of_system);

#ifdef __cplusplus
}
#endif
