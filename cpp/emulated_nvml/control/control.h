/* SPDX-License-Identifier: Apache-2.0 */
/* C functions of the emulated NVML beyond NVML's API; cuda.core.emulation looks them up by name.
   They need no nvmlInit. A device is given by its index. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the name of a sensor by number, or null after the last one. */
const char* halfwarp_nvml_sensor(unsigned number);

/* Reads or sets a sensor. Returns 1; 0 if there is no such device or sensor; -1 if the value is
   outside of `min_value` and `max_value`, which are written if the sensor exists. */
int halfwarp_nvml_read(unsigned device, const char* sensor, long long* value);
int halfwarp_nvml_set(unsigned device, const char* sensor, long long value, long long* min_value,
                      long long* max_value);

/* Resets all sensors of all devices to their initial values and discards pending events. */
void halfwarp_nvml_reset(void);

/* Posts an event of the types (nvmlEventType... or nvmlSystemEventType...) to a device. Returns the
   number of event sets that received it, or -1 if there is no such device. */
int halfwarp_nvml_post(unsigned device, unsigned long long type, unsigned long long data,
                       int is_of_system);

#ifdef __cplusplus
}
#endif
