// SPDX-License-Identifier: Apache-2.0
// Events: created in a context, stored with their creation flags.
#include "core/event.hpp"

#include <utility>

namespace halfwarp::core {

event_handle create_event(context_instance context, unsigned flags) {
  const current_scope scope{context.raw()};
  return event_handle::own(std::move(context), event_facts{flags}, [flags](CUevent* raw) {
    driver::call(driver::table->cuEventCreate, raw, flags);
  });
}

}  // namespace halfwarp::core
