// SPDX-License-Identifier: Apache-2.0
// Handwritten steps of single functions. The overrides of the generator name them.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings::handwritten {

// No step: for most functions.
inline constexpr handwritten_steps nothing;

// Contexts, linker invocations.
extern const handwritten_steps create_context;
extern const handwritten_steps create_link;
extern const handwritten_steps destroy_link;

// Conditional nodes, which contain graphs.
extern const handwritten_steps copy_conditional_graphs;

// Text output in a buffer whose size is an argument.
extern const handwritten_steps dump_text;

// Callbacks that acquire the GIL.
extern const handwritten_steps launch_host_function;
extern const handwritten_steps add_stream_callback;
extern const handwritten_steps register_async_notification;
extern const handwritten_steps unregister_async_notification;
extern const handwritten_steps register_logs_callback;
extern const handwritten_steps unregister_logs_callback;

extern const handwritten_steps launch_runtime_host_function;
extern const handwritten_steps add_runtime_stream_callback;
extern const handwritten_steps register_runtime_async_notification;

// Functions that return a struct by value: as a tuple with a code, and alone.
extern const handwritten_steps returned_struct;
extern const handwritten_steps bare_struct;

// Calls that are made twice: to query the length of their arrays, and to fill them.
extern const handwritten_steps counted_call;
extern const handwritten_steps counted_struct_call;

// NVML.
extern const handwritten_steps newest_struct;
extern const handwritten_steps get_field_values;
extern const handwritten_steps clear_field_values;
extern const handwritten_steps read_write_prm;
extern const handwritten_steps topology_gpu_set;
extern const handwritten_steps wait_for_system_events;
extern const handwritten_steps get_context_data;

// Further faces: calls whose output length another function returns.
extern const handwritten_steps queried_call;
extern const handwritten_steps one_capability;
extern const handwritten_steps devices_of_gl;

// NVRTC.
extern const handwritten_steps get_output;
extern const handwritten_steps get_supported_architectures;

}  // namespace halfwarp::bindings::handwritten
