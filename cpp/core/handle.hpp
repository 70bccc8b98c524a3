// SPDX-License-Identifier: Apache-2.0
// handle<Traits>: a reference-counted driver object that retains its parent object.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/lifetime/registry.hpp"
#include "core/lifetime/release.hpp"

namespace halfwarp::core {

// An object of the caller that a handle retains, for instance the owner of a borrowed stream.
// Releases the object once, on any thread.
class keep_alive {
 public:
  constexpr keep_alive() noexcept = default;
  // `release` must not throw, and must acquire the locks that it needs.
  keep_alive(void* object, void (*release)(void*)) noexcept : object_{object}, release_{release} {}
  keep_alive(keep_alive&& other) noexcept
      : object_{other.object_}, release_{std::exchange(other.release_, nullptr)} {}
  keep_alive& operator=(keep_alive other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~keep_alive() {
    if (release_ != nullptr) release_(object_);
  }

 private:
  void* object_ = nullptr;
  void (*release_)(void*) = nullptr;
};

enum class ownership : unsigned char {
  owned,     // destroyed with its last handle
  borrowed,  // not owned: never destroyed here
};

// The parent type of an object that has no parent.
struct no_parent {};

// Warns about a failed destruction, on standard error if no warning can be issued. Does nothing
// while the process exits, nor for an object that the driver already destroyed. `handle` is the
// handle or address of the object.
void report_failed_destroy(const char* function, std::uintptr_t handle, CUresult code) noexcept;

// Queues a Python warning, and returns whether it did. Must be callable on any thread with any lock
// held. Null without an interpreter; set once, by the layer above.
inline bool (*warning_hook)(const std::string& text) noexcept = nullptr;

// Describes a kind of driver object:
//
//   struct event_traits {
//     using raw_type = CUevent;
//     using parent_type = context_instance;  // another handle, or no_parent
//     using facts_type = event_facts;        // properties shared by all handles to the object
//     static constexpr const char* destroyer = "cuEventDestroy";  // null: the parent destroys it
//     static CUresult destroy(CUevent raw, const event_facts&) noexcept;
//     static constexpr bool is_registered = false;  // optional: whether find() works; true
//     static void before_destroy(const event_facts&) noexcept;  // optional
//     // Optional: whether the object was destroyed already; parent_type::is_destroyed().
//     static bool is_destroyed(const context_instance&, const event_facts&) noexcept;
//     // Optional: whether a capture in progress survives the destruction in any mode; false.
//     static constexpr bool is_safe_in_capture = true;
//   };
//
template <class Traits>
class handle;

// Read access to an object that a handle keeps alive. A null reference is a closed handle. Its raw
// value is null, but so is the raw value of the default stream.
template <class Traits>
class handle_ref {
 public:
  using traits = Traits;
  using raw_type = typename Traits::raw_type;
  using parent_type = typename Traits::parent_type;
  using facts_type = typename Traits::facts_type;

  handle_ref(const handle_ref&) = delete;  // a copy would not retain the object
  handle_ref& operator=(const handle_ref&) = delete;

  [[nodiscard]] raw_type raw() const noexcept {
    return node_ == nullptr ? raw_type{} : reinterpret_cast<raw_type>(node_->key);
  }
  [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
  [[nodiscard]] bool is_open() const noexcept { return node_ != nullptr; }
  // Only for an open handle:
  [[nodiscard]] bool is_owned() const noexcept { return node_->owns == ownership::owned; }
  [[nodiscard]] facts_type& facts() const noexcept { return node_->facts; }
  [[nodiscard]] const parent_type& parent() const noexcept { return node_->parent; }

  // Returns false in a child process: the object is the parent's, and calls must not use it.
  [[nodiscard]] bool is_of_this_process() const noexcept { return node_->is_of_this_process(); }

  // Returns another handle to the same object.
  [[nodiscard]] handle<Traits> share() const noexcept;

 protected:
  struct node : counted {
    parent_type parent;
    facts_type facts;
    keep_alive owner;
    ownership owns;
    // Guarded by the lock of handle_use:
    std::uint32_t uses = 0;              // calls in progress
    std::uint32_t pending_releases = 0;  // references released during those calls

    node(parent_type&& p, facts_type&& f, keep_alive&& k, ownership o) noexcept
        : parent{std::move(p)}, facts{std::move(f)}, owner{std::move(k)}, owns{o} {
      generation = fork_generation.load(std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_of_this_process() const noexcept {
      return generation == fork_generation.load(std::memory_order_relaxed);
    }
  };

  constexpr handle_ref() noexcept = default;
  explicit constexpr handle_ref(node* of) noexcept : node_{of} {}
  ~handle_ref() = default;

  [[nodiscard]] static node* node_of(const handle_ref& other) noexcept { return other.node_; }

  node* node_ = nullptr;
};

// Owns a reference to the object; the last reference destroys it.
template <class Traits>
class handle : public handle_ref<Traits> {
  using base = handle_ref<Traits>;
  using node = typename base::node;
  using base::node_;

 public:
  using raw_type = typename Traits::raw_type;
  using parent_type = typename Traits::parent_type;
  using facts_type = typename Traits::facts_type;

  static constexpr bool is_registered = [] {
    if constexpr (requires { Traits::is_registered; }) return Traits::is_registered;
    return true;
  }();

  constexpr handle() noexcept = default;
  handle(const handle& other) noexcept : handle{static_cast<const base&>(other)} {}
  explicit handle(const base& other) noexcept : base{base::node_of(other)} {
    if (node_ != nullptr) node_->add_reference();
  }
  handle(handle&& other) noexcept : base{std::exchange(other.node_, nullptr)} {}
  handle& operator=(handle other) noexcept {
    swap(other);
    return *this;
  }
  void swap(handle& other) noexcept { std::swap(node_, other.node_); }
  ~handle() { reset(); }

  // Calls `make(raw_type*)`, which creates the driver object or throws. The node is allocated
  // first, so that a created object cannot leak.
  template <class Make>
  [[nodiscard]] static handle own(parent_type parent, facts_type facts, Make&& make) {
    handle result{new node{std::move(parent), std::move(facts), keep_alive{}, ownership::borrowed}};
    result.node_->kind = &kind;
    raw_type raw{};
    make(&raw);
    result.node_->key = as_key(raw);
    result.node_->owns = ownership::owned;
    if constexpr (is_registered) live_handles.insert(*result.node_);
    return result;
  }

  [[nodiscard]] static handle borrow(raw_type raw, parent_type parent = {}, facts_type facts = {},
                                     keep_alive owner = {}) {
    handle result{
        new node{std::move(parent), std::move(facts), std::move(owner), ownership::borrowed}};
    result.node_->kind = &kind;
    result.node_->key = as_key(raw);
    return result;
  }

  // Returns a handle to the live object with that raw value, or a null handle.
  [[nodiscard]] static handle find(raw_type raw) noexcept
    requires(is_registered)
  {
    for (;;) {
      handle match{static_cast<node*>(live_handles.find(&kind, as_key(raw)))};
      if (!match || !is_destroyed(*match.node_)) return match;
      live_handles.remove(*match.node_);  // the driver may have reused the value
    }
  }

  // Returns whether this handle holds the only reference.
  [[nodiscard]] bool is_last() const noexcept {
    return node_ != nullptr && node_->count.load(std::memory_order_acquire) == 1;
  }

  // Moves the reference out and leaves this handle null.
  [[nodiscard]] handle take() noexcept { return std::move(*this); }

  void reset() noexcept {
    if (node_ == nullptr) return;
    // An unregistered object with one reference is not reachable from other threads, so the atomic
    // decrement is unnecessary.
    const bool was_last = (!is_registered && is_last()) || node_->remove_references(1);
    if (node* const old = std::exchange(node_, nullptr); was_last) destroy(old);
  }

  // Like reset(), but leaves the release of the reference to the last call that uses the object.
  // Requires the lock of handle_use.
  void release() noexcept {
    if (node_ == nullptr || node_->uses == 0) return reset();
    ++node_->pending_releases;
    node_ = nullptr;
  }

 private:
  template <class>
  friend class handle_use;

  explicit handle(node* adopted) noexcept : base{adopted} {}

  static void* as_key(raw_type raw) noexcept { return reinterpret_cast<void*>(raw); }

  // Returns whether the object was destroyed already, by the program or with its context. Another
  // object may have its raw value by now.
  static bool is_destroyed(const node& target) noexcept {
    if constexpr (requires { Traits::is_destroyed(target.parent, target.facts); }) {
      return Traits::is_destroyed(target.parent, target.facts);
    } else if constexpr (requires { target.parent.is_destroyed(); }) {
      return target.parent.is_destroyed();
    } else {
      return false;
    }
  }

  static void destroy_in_driver(const node& last) noexcept {
    constexpr capture during =
        requires { requires Traits::is_safe_in_capture; } ? capture::any : capture::relaxed;
    const CUresult code = core::release<during>(
        [&last] { return Traits::destroy(reinterpret_cast<raw_type>(last.key), last.facts); });
    if (code != CUDA_SUCCESS) [[unlikely]]
      report_failed_destroy(Traits::destroyer, reinterpret_cast<std::uintptr_t>(last.key), code);
  }

  // Removes the node from the registry before destruction, because the driver may reuse the raw
  // value at once.
  __attribute__((noinline)) static void destroy(node* last) noexcept {
    if constexpr (requires { Traits::before_destroy(last->facts); }) {
      if (last->is_of_this_process()) Traits::before_destroy(last->facts);
    }
    if (last->owns == ownership::owned && last->is_of_this_process()) {
      if constexpr (is_registered) live_handles.remove(*last);
      if constexpr (Traits::destroyer != nullptr) {
        if (!is_destroyed(*last)) [[likely]]
          destroy_in_driver(*last);
      }
    }
    delete last;
  }

  static constexpr char kind = 0;  // its address identifies the kind
};

template <class Traits>
handle<Traits> handle_ref<Traits>::share() const noexcept {
  return handle<Traits>{*this};
}

// Borrows an object for the time of a call, with two plain additions instead of two atomic ones.
// An external lock (the GIL or an object's lock) must be held when a use begins or ends, and when
// release() is called. The lock may be released in between: the last use drops references that
// were released during the use.
template <class Traits>
class handle_use : public handle_ref<Traits> {
  using base = handle_ref<Traits>;
  using node = typename base::node;
  using base::node_;

 public:
  constexpr handle_use() noexcept = default;
  explicit handle_use(const base& of) noexcept : base{base::node_of(of)} {
    if (node_ != nullptr) ++node_->uses;
  }
  handle_use(const handle_use& other) noexcept : handle_use{static_cast<const base&>(other)} {}
  handle_use(handle_use&& other) noexcept : base{std::exchange(other.node_, nullptr)} {}
  handle_use& operator=(handle_use other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~handle_use() {
    if (node_ == nullptr || --node_->uses != 0 || node_->pending_releases == 0) return;
    const std::uint32_t pending_releases = std::exchange(node_->pending_releases, 0);
    if (node_->remove_references(pending_releases)) handle<Traits>::destroy(node_);
  }
};

}  // namespace halfwarp::core
