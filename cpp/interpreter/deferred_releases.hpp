// SPDX-License-Identifier: Apache-2.0
// Objects that driver threads have finished with, destroyed later on a Python thread.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::interpreter {

// A list linked by `Item::next`. Destroying an item may run any code, even CUDA calls, so it never
// happens on a driver thread.
template <class Item, void (*Destroy)(Item*)>
class deferred_releases {
 public:
  constexpr deferred_releases() noexcept = default;
  deferred_releases(const deferred_releases&) = delete;  // pending calls refer to it

  // Adds an item, on any thread, with or without the GIL.
  void add(Item* item) noexcept {
    Item* first = __atomic_load_n(&first_, __ATOMIC_RELAXED);
    do {
      item->next = first;
    } while (!__atomic_compare_exchange_n(&first_, &first, item, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    // For a non-empty list a pending call is already queued. If CPython's queue is full, the next
    // call of drain() destroys all items.
    if (first == nullptr) Py_AddPendingCall(drain_later, this);
  }

  // Destroys all items. Needs the GIL.
  void drain() noexcept {
    Item* item = __atomic_exchange_n(&first_, nullptr, __ATOMIC_ACQUIRE);
    while (item != nullptr) {
      Item* const next = item->next;
      Destroy(item);
      item = next;
    }
  }

 private:
  static int drain_later(void* self) noexcept {
    static_cast<deferred_releases*>(self)->drain();
    return 0;
  }

  Item* first_ = nullptr;
};

}  // namespace halfwarp::interpreter
