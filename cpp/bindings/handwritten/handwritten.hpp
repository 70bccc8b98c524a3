// SPDX-License-Identifier: Apache-2.0
// What single functions do besides their record; the overrides of the generator name them.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings::bodies {

// Most functions.
inline constexpr body nothing;

// Contexts, linker invocations.
extern const body create_context;
extern const body create_link;
extern const body destroy_link;

// Nodes that bring graphs with them.
extern const body keep_made_graphs;

// A text that is written into memory of a stated size.
extern const body dump_text;

// Callbacks that take the interpreter lock.
extern const body launch_host_function;
extern const body add_stream_callback;
extern const body register_async_notification;
extern const body unregister_async_notification;
extern const body register_logs_callback;
extern const body unregister_logs_callback;

extern const body launch_runtime_host_function;
extern const body add_runtime_stream_callback;
extern const body register_runtime_async_notification;

// Functions that return a struct by value: with the code, and bare.
extern const body returned_struct;
extern const body bare_struct;

// Calls that are made twice: for the length of their arrays, then to fill them.
extern const body counted_call;
extern const body counted_struct_call;

// NVML.
extern const body newest_struct;
extern const body get_field_values;
extern const body clear_field_values;
extern const body read_write_prm;
extern const body topology_gpu_set;
extern const body wait_for_system_events;
extern const body get_context_data;

// NVRTC.
extern const body get_output;
extern const body get_supported_architectures;

}  // namespace halfwarp::bindings::bodies
