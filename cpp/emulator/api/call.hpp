// SPDX-License-Identifier: Apache-2.0
// Gives the body of a driver function the lock and the objects behind handles.
#pragma once

#include <concepts>
#include <memory>
#include <new>
#include <type_traits>

#include "emulator/api.hpp"
#include "emulator/driver/driver.hpp"
#include "emulator/driver/thread.hpp"
#include "emulator/graph/capture.hpp"
#include "emulator/object/use.hpp"
#include "emulator/settings/refusal.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/event.hpp"

namespace halfwarp::emulator::api {

// Holds the driver's lock. Lookups refuse with the code that a device returns.
class call {
 public:
  call() : d{the_driver()}, guard{d.lock} {}

  driver& d;
  driver_guard guard;

  device& device_of(CUdevice ordinal) const;
  // Returns the current context, which must be alive. For a green context, returns its primary
  // context, which owns memory, modules and events.
  const std::shared_ptr<context>& current() const;
  // Returns the current context or green context, for streams and queries of the context itself.
  const std::shared_ptr<context>& current_or_green() const;
  std::shared_ptr<context> context_of(CUcontext raw) const;
  // Refuses a destroyed current context; accepts that no context is current.
  void require_current_alive() const;
  // Returns the stream of a handle; null and the two special handles name default streams.
  std::shared_ptr<stream> stream_of(CUstream raw) const;

  template <class T, class Raw>
  std::shared_ptr<T> find(Raw raw, CUresult code = CUDA_ERROR_INVALID_HANDLE) const {
    auto match = find_counted<T>(raw, code);
    used_.add(match);
    return match;
  }

  // Finds an object that a reference of the caller keeps alive until this call has released it. So
  // another thread's release may destroy the object as soon as this call has ended.
  template <class T, class Raw>
  std::shared_ptr<T> find_counted(Raw raw, CUresult code) const {
    auto match = d.objects.find<T>(raw);
    if (!match) refuse_handle(T::kind_of, reinterpret_cast<std::uint64_t>(raw), code);
    return match;
  }

  // Finds an object to destroy. Refuses an object that was destroyed with its context with
  // CUDA_ERROR_INVALID_CONTEXT, as a device does.
  template <class T, class Raw>
  std::shared_ptr<T> find_to_destroy(Raw raw) const {
    const bool is_destroyed = d.objects.ended_with_context(reinterpret_cast<std::uint64_t>(raw));
    return find<T>(raw, is_destroyed ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE);
  }

  // Appends an operation to a stream, or to the graph of its capture; in a capture the returned
  // point is empty.
  stream_point submit(stream& target, std::shared_ptr<operation> work,
                      std::vector<stream_point> waits = {});
  void record(event& recorded, stream& target);
  // Waits until the point is reached; returns the code of a failure until then.
  CUresult wait(const stream_point& until, context& owner);
  CUresult wait_for_all(context& owner);

 private:
  mutable objects_in_use used_;  // after the guard, so destroyed under the lock
  [[noreturn]] void refuse_handle(object_kind kind, std::uint64_t raw, CUresult code) const;
};

// Refuses null output pointers.
template <class... T>
void require_outputs(T*... out) {
  if (((out == nullptr) || ...)) refuse(CUDA_ERROR_INVALID_VALUE, "an output pointer is null");
}

// Creates a stream of a context.
CUstream create_stream(call& c, const std::shared_ptr<context>& owner, unsigned flags,
                       int priority);

// Refuses flags that cuCtxCreate rejects with CUDA_ERROR_INVALID_VALUE.
void require_context_flags(unsigned flags);

// Runs one body without the driver's lock and converts refusals to codes.
template <class Body>
CUresult run_unlocked(Body&& body) noexcept {
  try {
    if constexpr (std::same_as<std::invoke_result_t<Body&>, CUresult>) {
      return body();
    } else {
      body();
      return CUDA_SUCCESS;
    }
  } catch (refusal& r) {
    this_thread().note(r.code, std::move(r.text));
    return r.code;
  } catch (const std::bad_alloc&) {
    this_thread().note(CUDA_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

// Runs one body under the driver's lock and converts refusals to codes.
template <class Body>
CUresult run_locked(Body&& body) noexcept {
  return run_unlocked([&] {
    call c;
    return body(c);
  });
}

}  // namespace halfwarp::emulator::api
