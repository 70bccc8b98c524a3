// SPDX-License-Identifier: Apache-2.0
// handle<Traits>: a counted driver object that keeps alive what the driver needs under it.
#pragma once

#include <cuda.h>

#include <utility>

#include "core/lifetime/giving_back.hpp"
#include "core/lifetime/registry.hpp"

namespace halfwarp::core {

// Something of the caller's that a handle keeps alive, for instance the foreign object that owns
// a borrowed stream. `release` is called once, on any thread, and takes what locks it needs.
struct keeper {
  void* object = nullptr;
  void (*release)(void*) = nullptr;  // must not throw
};

enum class ownership : unsigned char {
  owned,     // destroyed with its last handle
  borrowed,  // somebody else's: never destroyed here
};

// The parent of what stands alone.
struct no_parent {};

// One line on standard error for a clean-up that failed; none once the process is exiting, and
// none for what the driver has already taken down by itself.
void report_failed_destroy(const char* function, CUresult code) noexcept;

// A kind of driver object is described by its traits:
//
//   struct event_traits {
//     using raw_type = CUevent;
//     using parent_type = context_handle;  // or no_parent
//     using facts_type = event_facts;      // what is known of it; every wrapper shares it
//     static constexpr const char* destroyer = "cuEventDestroy";  // null: it goes with its parent
//     static CUresult destroy(CUevent raw, const event_facts&) noexcept;
//     static constexpr bool is_registered = false;  // left out: true; whether find() is wanted
//     // Left out: false. Whether a capture in progress survives the destruction in any mode.
//     static constexpr bool is_safe_in_capture = true;
//   };
//
// Copies share the object. A null handle is the state of a closed one: its raw value is null, but
// a null raw value alone does not say so, since the default stream has it too.
template <class Traits>
class handle {
 public:
  using raw_type = typename Traits::raw_type;
  using parent_type = typename Traits::parent_type;
  using facts_type = typename Traits::facts_type;

  static constexpr bool is_registered = [] {
    if constexpr (requires { Traits::is_registered; }) return Traits::is_registered;
    return true;
  }();

  constexpr handle() noexcept = default;
  handle(const handle& other) noexcept : node_{other.node_} {
    if (node_ != nullptr) node_->add_reference();
  }
  handle(handle&& other) noexcept : node_{std::exchange(other.node_, nullptr)} {}
  handle& operator=(handle other) noexcept {
    swap(other);
    return *this;
  }
  void swap(handle& other) noexcept { std::swap(node_, other.node_); }
  ~handle() { reset(); }

  // `make(raw_type*)` creates the driver object and throws when it cannot. The node exists before,
  // so that an object once made is never lost.
  template <class Make>
  [[nodiscard]] static handle own(parent_type parent, facts_type facts, Make&& make) {
    handle made{new node{std::move(parent), std::move(facts), keeper{}, ownership::borrowed}};
    raw_type raw{};
    make(&raw);
    made.node_->key = as_key(raw);
    made.node_->owns = ownership::owned;
    if constexpr (is_registered) live_handles.insert(*made.node_);
    return made;
  }

  [[nodiscard]] static handle borrow(raw_type raw, parent_type parent = {}, facts_type facts = {},
                                     keeper kept = {}) {
    handle made{new node{std::move(parent), std::move(facts), kept, ownership::borrowed}};
    made.node_->key = as_key(raw);
    return made;
  }

  // The live object that was made here with that raw value, shared; else a null handle.
  [[nodiscard]] static handle find(raw_type raw) noexcept
    requires(is_registered)
  {
    return handle{static_cast<node*>(live_handles.find(&kind, as_key(raw)))};
  }

  [[nodiscard]] raw_type raw() const noexcept {
    return node_ == nullptr ? raw_type{} : reinterpret_cast<raw_type>(node_->key);
  }
  [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
  [[nodiscard]] bool is_open() const noexcept { return node_ != nullptr; }
  // Of an open handle:
  [[nodiscard]] bool is_owned() const noexcept { return node_->owns == ownership::owned; }
  [[nodiscard]] facts_type& facts() const noexcept { return node_->facts; }
  [[nodiscard]] const parent_type& parent() const noexcept { return node_->parent; }

  // False in the child of a fork: the object is the parent's, and no driver call may name it.
  [[nodiscard]] bool is_of_this_process() const noexcept { return is_of_this_process(*node_); }

  // Whether this handle is the only one.
  [[nodiscard]] bool is_last() const noexcept {
    return node_ != nullptr && node_->count.load(std::memory_order_acquire) == 1;
  }

  // Leaves this one null.
  [[nodiscard]] handle take() noexcept { return std::move(*this); }

  void reset() noexcept {
    if (node_ == nullptr) return;
    // Without a registry nobody can find it again: the only holder stays that, and need not say so
    // in a way that other threads see.
    const bool was_last = (!is_registered && is_last()) || node_->drop_reference();
    if (node* const old = std::exchange(node_, nullptr); was_last) destroy(old);
  }

 private:
  struct node : counted {
    parent_type parent;
    facts_type facts;
    keeper kept;
    ownership owns;

    node(parent_type&& p, facts_type&& f, keeper k, ownership o) noexcept
        : parent{std::move(p)}, facts{std::move(f)}, kept{k}, owns{o} {
      generation = fork_generation.load(std::memory_order_relaxed);
      kind = &handle::kind;
    }
  };

  explicit handle(node* adopted) noexcept : node_{adopted} {}

  static bool is_of_this_process(const node& of) noexcept {
    return of.generation == fork_generation.load(std::memory_order_relaxed);
  }

  static void* as_key(raw_type raw) noexcept { return reinterpret_cast<void*>(raw); }

  // Whether the driver has taken it down already, with the context that it was made in: its raw
  // value may be another object's by now.
  static bool is_gone(const node& of) noexcept {
    if constexpr (requires { was_reset(of.parent); }) {
      return of.parent.is_open() && was_reset(of.parent);
    } else {
      return false;
    }
  }

  static void give_to_driver(const node& last) noexcept {
    constexpr capture during =
        requires { requires Traits::is_safe_in_capture; } ? capture::any : capture::relaxed;
    const CUresult code = give_back<during>(
        [&last] { return Traits::destroy(reinterpret_cast<raw_type>(last.key), last.facts); });
    if (code != CUDA_SUCCESS) [[unlikely]]
      report_failed_destroy(Traits::destroyer, code);
  }

  // Out of the registry first: the driver may give the same raw value to the next object.
  __attribute__((noinline)) static void destroy(node* last) noexcept {
    if (last->owns == ownership::owned && is_of_this_process(*last)) {
      if constexpr (is_registered) live_handles.remove(*last);
      if constexpr (Traits::destroyer != nullptr) {
        if (!is_gone(*last)) [[likely]]
          give_to_driver(*last);
      }
    }
    if (last->kept.release != nullptr) last->kept.release(last->kept.object);
    delete last;
  }

  static constexpr char kind = 0;  // its address tells the kinds apart

  node* node_ = nullptr;
};

}  // namespace halfwarp::core
