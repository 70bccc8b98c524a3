// SPDX-License-Identifier: Apache-2.0
// Reports the programs that NVRTC compiles to a function of Python, which may substitute their PTX.
#pragma once

#include <span>
#include <string>

namespace halfwarp::emulator::control {

// Receives a JSON object with the source, its name, headers, name expressions, options and PTX.
using compile_observer = void (*)(const char* json, std::size_t size);

// Null ends the reports. Sources are recorded while there is an observer.
void set_compile_observer(compile_observer observer) noexcept;

void record_source(void* program, const char* text, const char* name, int headers,
                   const char* const* contents, const char* const* names) noexcept;
void record_expression(void* program, const char* expression) noexcept;
void erase_source(void* program) noexcept;

// Returns whether compilations of this thread are reported.
bool is_observing() noexcept;

// Returns whether a compilation of the program is reported. Compilations of the observer are not.
bool is_observed(void* program) noexcept;
void report_compilation(void* program, std::span<const char* const> options,
                        const std::string& ptx);

}  // namespace halfwarp::emulator::control
