// SPDX-License-Identifier: Apache-2.0
// Events between processes: the handle, and an event of another process by it.
#include <cerrno>
#include <cstring>

#include "emulator/api/call.hpp"
#include "emulator/api/sharing/sharing_call.hpp"
#include "emulator/stream/event.hpp"

namespace halfwarp::emulator::api {

void refuse_by_system(const std::string& what) {
  const std::string why = std::strerror(errno);
  switch (errno) {
    case ESRCH:
      refuse(CUDA_ERROR_INVALID_HANDLE, what + ": the process that made it has ended");
    case EACCES:
    case EPERM:
      refuse(CUDA_ERROR_NOT_PERMITTED, what + ": it belongs to another user (" + why + ")");
    case EINVAL:
    case EBADF:
    case ENOENT:
      refuse(CUDA_ERROR_INVALID_HANDLE, what + ": it is none, or was closed by its owner");
    case EMFILE:
    case ENFILE:
      refuse(CUDA_ERROR_OPERATING_SYSTEM,
             what + ": no file descriptor is left (" + why + "); close some, or raise `ulimit -n`");
    default:
      refuse(CUDA_ERROR_OPERATING_SYSTEM, what + ": " + why);
  }
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event_) noexcept {
  return answer([&](call& c) {
    require_outputs(pHandle);
    const auto asked = c.find<event>(event_);
    require(asked->shared != nullptr, CUDA_ERROR_INVALID_HANDLE,
            "the event was not made with CU_EVENT_INTERPROCESS");
    *pHandle = read_as<CUipcEventHandle>(asked->shared->handle(asked->flags()));
  });
}

CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) noexcept {
  return answer([&](call& c) {
    require_outputs(phEvent);
    const auto& owner = c.current();
    const auto given = read_as<sharing::event_handle>(handle);
    require(given.owner != sharing::this_process(), CUDA_ERROR_INVALID_CONTEXT,
            "the event was made in this process; another one opens the handle");
    auto opened = sharing::event_state::open(given);
    if (!opened) refuse_by_system("the event of this handle cannot be opened");
    *phEvent = c.d.objects.make<event>(owner, given.flags, std::move(opened))->handle_as<CUevent>();
  });
}

}  // namespace halfwarp::emulator::api
