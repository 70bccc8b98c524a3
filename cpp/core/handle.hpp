// SPDX-License-Identifier: Apache-2.0
// handle<Traits>: a counted driver object that keeps alive what the driver needs under it.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/lifetime/registry.hpp"
#include "core/lifetime/release.hpp"

namespace halfwarp::core {

// Something of the caller's that a handle keeps alive, for instance the foreign object that owns
// a borrowed stream. It is released once, on any thread.
class keep_alive {
 public:
  constexpr keep_alive() noexcept = default;
  // `release` must not throw, and takes what locks it needs.
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
  borrowed,  // somebody else's: never destroyed here
};

// The parent of what stands alone.
struct no_parent {};

// A warning for a clean-up that failed, or a line on standard error where none can be given;
// nothing once the process is exiting, nor for what the driver has already taken down by itself.
void report_failed_destroy(const char* function, CUresult code) noexcept;

// Whether a warning will be given. Called on any thread, with any lock held; null: there is none to
// give. Written once, by the layer above.
inline bool (*give_clean_up_warning)(const std::string& text) noexcept = nullptr;

// A kind of driver object is described by its traits:
//
//   struct event_traits {
//     using raw_type = CUevent;
//     using parent_type = context_instance;  // or another handle, or no_parent
//     using facts_type = event_facts;      // what is known of it; every wrapper shares it
//     static constexpr const char* destroyer = "cuEventDestroy";  // null: it goes with its parent
//     static CUresult destroy(CUevent raw, const event_facts&) noexcept;
//     static constexpr bool is_registered = false;  // left out: true; whether find() is wanted
//     static void before_end(const event_facts&) noexcept;  // left out: nothing is to be done
//     // Left out: parent_type::is_gone(), if there is such; whether it was destroyed already.
//     static bool is_gone(const context_instance&, const event_facts&) noexcept;
//     // Left out: false. Whether a capture in progress survives the destruction in any mode.
//     static constexpr bool is_safe_in_capture = true;
//   };
//
template <class Traits>
class handle;

// What there is to ask of an object as long as somebody holds a share of it. A null reference is
// that of a closed handle: its raw value is null, but a null raw value alone does not say so, since
// the default stream has it too.
template <class Traits>
class handle_ref {
 public:
  using traits = Traits;
  using raw_type = typename Traits::raw_type;
  using parent_type = typename Traits::parent_type;
  using facts_type = typename Traits::facts_type;

  handle_ref(const handle_ref&) = delete;  // holders know what a copy holds
  handle_ref& operator=(const handle_ref&) = delete;

  [[nodiscard]] raw_type raw() const noexcept {
    return node_ == nullptr ? raw_type{} : reinterpret_cast<raw_type>(node_->key);
  }
  [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
  [[nodiscard]] bool is_open() const noexcept { return node_ != nullptr; }
  // Of an open one:
  [[nodiscard]] bool is_owned() const noexcept { return node_->owns == ownership::owned; }
  [[nodiscard]] facts_type& facts() const noexcept { return node_->facts; }
  [[nodiscard]] const parent_type& parent() const noexcept { return node_->parent; }

  // False in the child of a fork: the object is the parent's, and no driver call may name it.
  [[nodiscard]] bool is_of_this_process() const noexcept { return node_->is_of_this_process(); }

  // A share of the same object.
  [[nodiscard]] handle<Traits> share() const noexcept;

 protected:
  struct node : counted {
    parent_type parent;
    facts_type facts;
    keep_alive kept;
    ownership owns;
    // Under the lock of handle_use:
    std::uint32_t uses = 0;    // calls under way
    std::uint32_t unused = 0;  // shares that were given up meanwhile

    node(parent_type&& p, facts_type&& f, keep_alive&& k, ownership o) noexcept
        : parent{std::move(p)}, facts{std::move(f)}, kept{std::move(k)}, owns{o} {
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

// A share of the object: it lives as long as there is one. Copies share it.
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

  // `make(raw_type*)` creates the driver object and throws when it cannot. The node exists before,
  // so that an object once made is never lost.
  template <class Make>
  [[nodiscard]] static handle own(parent_type parent, facts_type facts, Make&& make) {
    handle made{new node{std::move(parent), std::move(facts), keep_alive{}, ownership::borrowed}};
    made.node_->kind = &kind;
    raw_type raw{};
    make(&raw);
    made.node_->key = as_key(raw);
    made.node_->owns = ownership::owned;
    if constexpr (is_registered) live_handles.insert(*made.node_);
    return made;
  }

  [[nodiscard]] static handle borrow(raw_type raw, parent_type parent = {}, facts_type facts = {},
                                     keep_alive kept = {}) {
    handle made{
        new node{std::move(parent), std::move(facts), std::move(kept), ownership::borrowed}};
    made.node_->kind = &kind;
    made.node_->key = as_key(raw);
    return made;
  }

  // The live object that was made here with that raw value, shared; else a null handle.
  [[nodiscard]] static handle find(raw_type raw) noexcept
    requires(is_registered)
  {
    for (;;) {
      handle found{static_cast<node*>(live_handles.find(&kind, as_key(raw)))};
      if (!found || !is_gone(*found.node_)) return found;
      live_handles.remove(*found.node_);  // the value names somebody else's object by now
    }
  }

  // Whether this handle is the only one.
  [[nodiscard]] bool is_last() const noexcept {
    return node_ != nullptr && node_->count.load(std::memory_order_acquire) == 1;
  }

  // Leaves this one null.
  [[nodiscard]] handle take() noexcept { return std::move(*this); }

  void reset() noexcept {
    if (node_ == nullptr) return;
    // No other thread can get at an object that is in no registry and has one handle: its count
    // need not be changed, with a locked instruction, before it goes.
    const bool was_last = (!is_registered && is_last()) || node_->drop_references(1);
    if (node* const old = std::exchange(node_, nullptr); was_last) destroy(old);
  }

  // As reset(), but while calls use the object, the share is left to the last of them. Under the
  // lock of handle_use.
  void release() noexcept {
    if (node_ == nullptr || node_->uses == 0) return reset();
    ++node_->unused;
    node_ = nullptr;
  }

 private:
  template <class>
  friend class handle_use;

  explicit handle(node* adopted) noexcept : base{adopted} {}

  static void* as_key(raw_type raw) noexcept { return reinterpret_cast<void*>(raw); }

  // Whether it was taken down already, by the driver with the context that it was made in, or by
  // the program: its raw value may be another object's by now.
  static bool is_gone(const node& of) noexcept {
    if constexpr (requires { Traits::is_gone(of.parent, of.facts); }) {
      return Traits::is_gone(of.parent, of.facts);
    } else if constexpr (requires { of.parent.is_gone(); }) {
      return of.parent.is_gone();
    } else {
      return false;
    }
  }

  static void give_to_driver(const node& last) noexcept {
    constexpr capture during =
        requires { requires Traits::is_safe_in_capture; } ? capture::any : capture::relaxed;
    const CUresult code = core::release<during>(
        [&last] { return Traits::destroy(reinterpret_cast<raw_type>(last.key), last.facts); });
    if (code != CUDA_SUCCESS) [[unlikely]]
      report_failed_destroy(Traits::destroyer, code);
  }

  // It leaves the registry before the driver has it: the next object may get the same raw value,
  // and must not be taken for this one.
  __attribute__((noinline)) static void destroy(node* last) noexcept {
    if constexpr (requires { Traits::before_end(last->facts); }) {
      if (last->is_of_this_process()) Traits::before_end(last->facts);
    }
    if (last->owns == ownership::owned && last->is_of_this_process()) {
      if constexpr (is_registered) live_handles.remove(*last);
      if constexpr (Traits::destroyer != nullptr) {
        if (!is_gone(*last)) [[likely]]
          give_to_driver(*last);
      }
    }
    delete last;
  }

  static constexpr char kind = 0;  // its address tells the kinds apart
};

template <class Traits>
handle<Traits> handle_ref<Traits>::share() const noexcept {
  return handle<Traits>{*this};
}

// A use of an object for the time of a call, without a share of its own: two plain additions
// instead of two that other processors have to see. One lock, an interpreter's, orders them: with
// it uses begin, from a share, and end, and with it that share is given up, by release(). Between
// begin and end it may be given back; what is given up then, goes with the last use.
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
    if (node_ == nullptr || --node_->uses != 0 || node_->unused == 0) return;
    const std::uint32_t unused = std::exchange(node_->unused, 0);
    if (node_->drop_references(unused)) handle<Traits>::destroy(node_);
  }
};

}  // namespace halfwarp::core
