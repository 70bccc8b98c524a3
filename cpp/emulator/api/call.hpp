// SPDX-License-Identifier: Apache-2.0
// What the body of a driver function works with: the lock, and the objects that handles name.
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

namespace halfwarp::emulator::api {

// Holds the driver's lock. Look-ups refuse with the code that a device gives.
class call {
 public:
  call() : d{the_driver()}, guard{d.lock} {}

  driver& d;
  driver_guard guard;

  device& device_of(CUdevice ordinal) const;
  // The calling thread's context, which must exist and be alive; in place of a green one the
  // primary one, where its memory, code and events are.
  const std::shared_ptr<context>& current() const;
  // The same, green ones too: for streams, and what is asked of the context itself.
  const std::shared_ptr<context>& current_or_green() const;
  std::shared_ptr<context> context_of(CUcontext raw) const;
  // For calls that need no current context, but refuse one that is destroyed.
  void require_current_alive() const;
  // Null and the two special handles name default streams.
  std::shared_ptr<stream> stream_of(CUstream raw) const;

  template <class T, class Raw>
  std::shared_ptr<T> find(Raw raw, CUresult otherwise = CUDA_ERROR_INVALID_HANDLE) const {
    auto found = d.objects.find<T>(raw);
    if (!found) refuse_handle(T::kind_of, reinterpret_cast<std::uint64_t>(raw), otherwise);
    used_.add(found);
    return found;
  }

  // What is to be destroyed; of what went with its context a device says so.
  template <class T, class Raw>
  std::shared_ptr<T> find_to_destroy(Raw raw) const {
    const bool is_gone = d.objects.ended_with_context(reinterpret_cast<std::uint64_t>(raw));
    return find<T>(raw, is_gone ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE);
  }

  // Appends an operation to a stream, or to the graph that its calls are captured in; then there
  // is no place to wait for.
  stream_point submit(stream& to, std::shared_ptr<operation> what,
                      std::vector<stream_point> waits = {});
  void record(event& what, stream& in);
  // Blocks until the place is reached; the code that tells of failures until then.
  CUresult wait(const stream_point& until, context& owner);
  CUresult wait_for_all(context& owner);

 private:
  mutable objects_in_use used_;  // after the guard: ends with the lock held
  [[noreturn]] void refuse_handle(object_kind kind, std::uint64_t raw, CUresult code) const;
};

// Out-parameters that must be there.
template <class... T>
void require_outputs(T*... out) {
  if (((out == nullptr) || ...)) refuse(CUDA_ERROR_INVALID_VALUE, "an output pointer is null");
}

// A new stream of that context.
CUstream create_stream(call& c, const std::shared_ptr<context>& in, unsigned flags, int priority);

// INVALID_VALUE for what cuCtxCreate does not take.
void require_context_flags(unsigned flags);

// Answers a refusal with its code. Needs no lock itself: for bodies that wait, or ask nobody.
template <class Body>
CUresult answer_unlocked(Body&& body) noexcept {
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

// Runs one body under the driver's lock.
template <class Body>
CUresult answer(Body&& body) noexcept {
  return answer_unlocked([&] {
    call c;
    return body(c);
  });
}

}  // namespace halfwarp::emulator::api
