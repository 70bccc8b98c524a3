// SPDX-License-Identifier: Apache-2.0
// Interprocess events: exports handles and opens events of other processes.
#include <cerrno>
#include <cstring>

#include "emulator/api/call.hpp"
#include "emulator/api/sharing/sharing_call.hpp"
#include "emulator/stream/event.hpp"

namespace halfwarp::emulator::api {

void refuse_by_system(const std::string& subject) {
  const std::string reason = std::strerror(errno);
  switch (errno) {
    case ESRCH:
      refuse(CUDA_ERROR_INVALID_HANDLE, subject + ": the process that created it has ended");
    case EACCES:
    case EPERM:
      refuse(CUDA_ERROR_NOT_PERMITTED, subject + ": it belongs to another user (" + reason + ")");
    case EINVAL:
    case EBADF:
    case ENOENT:
      refuse(CUDA_ERROR_INVALID_HANDLE,
             subject + ": the handle is invalid, or its owner closed it");
    case EMFILE:
    case ENFILE:
      refuse(CUDA_ERROR_OPERATING_SYSTEM, subject + ": the process is out of file descriptors (" +
                                              reason + "); close some, or raise `ulimit -n`");
    default:
      refuse(CUDA_ERROR_OPERATING_SYSTEM, subject + ": " + reason);
  }
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event_) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pHandle);
    const auto source = c.find<event>(event_);
    require(source->shared != nullptr, CUDA_ERROR_INVALID_HANDLE,
            "the event was not created with CU_EVENT_INTERPROCESS");
    *pHandle = read_as<CUipcEventHandle>(source->shared->handle(source->flags()));
  });
}

CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phEvent);
    const auto& owner = c.current();
    const auto source = read_as<sharing::event_handle>(handle);
    require(source.owner != sharing::this_process(), CUDA_ERROR_INVALID_CONTEXT,
            "the event was created in this process; only another process can open the handle");
    auto opened = sharing::event_state::open(source);
    if (!opened) refuse_by_system("the event of this handle cannot be opened");
    *phEvent =
        c.d.objects.make<event>(owner, source.flags, std::move(opened))->handle_as<CUevent>();
  });
}

}  // namespace halfwarp::emulator::api
