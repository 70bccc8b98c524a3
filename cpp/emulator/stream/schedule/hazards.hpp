// SPDX-License-Identifier: Apache-2.0
// Finds operations that touch the same bytes without order between them.
//
// Each operation has a clock: for each stream, the last operation that is ordered before it. The
// clocks follow from the calls alone, so each interleaving has the same findings.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emulator/memory/address_space.hpp"
#include "emulator/observation/fault_log.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

class context;

// Every function is called with the driver's lock held.
class hazards {
 public:
  hazards(const memory::address_space& space, fault_log& faults);
  hazards(const hazards&) = delete;  // belongs to one driver

  // Call when an operation was appended to a stream. It waits for points of other streams.
  void submit(stream& target, const operation& work, std::span<const stream_point> waits);
  // Call when the host knows that a point was reached.
  void synchronize(const stream_point& point);
  void synchronize(const context& owner);
  // Operations that are submitted during its life are a body of the conditional node at the head of
  // the stream. They are parts of the node's operation. `of` may be null.
  class body_scope {
   public:
    body_scope(hazards* of, stream& target, std::uint64_t iteration) : of_{of} {
      if (of_) of_->begin_body(target, iteration);
    }
    ~body_scope() {
      if (of_) of_->body_.reset();
    }
    body_scope(const body_scope&) = delete;

   private:
    hazards* of_;
  };
  // Call when stream-ordered memory was allocated.
  void allocate(stream& target, memory::address base);
  // Adds what the first operation of a stream accessed while it ran.
  void add(stream& target, std::vector<byte_range> ranges);
  // Call when the first operation of a stream was executed. Returns whether a hazard fails it.
  bool take_failure(stream& target);
  // Call when the reservation of graph memory ends.
  void forget(memory::address base);

 private:
  // By stream: the time of its last operation or allocation that is ordered before.
  struct clock {
    std::map<std::uint64_t, std::uint64_t> times;
    bool knows_all = false;  // a wait for a value may order anything

    void join(const clock& other);
    void join(std::uint64_t stream, std::uint64_t time);
  };
  using shared_clock = std::shared_ptr<const clock>;
  using point = std::pair<std::uint64_t, std::uint64_t>;  // stream and time
  struct moment {                                         // an operation in its stream
    std::uint64_t time = 0, sequence = 0;                 // in the stream, and among all
    shared_clock before;
    std::string title, site;
    std::vector<point> nodes;  // the conditional nodes around it
  };
  struct body {  // of a conditional node
    clock before;
    std::vector<point> nodes;
  };
  struct history {
    std::uint64_t context = 0, number = 0;
    bool is_legacy = false, is_blocking = false;
    std::uint64_t end = 0;  // time of the newest operation or allocation
    std::uint64_t host_version = 0;
    std::deque<moment> moments;  // the newest ones
    std::weak_ptr<stream> source;
  };
  struct access {
    std::uint64_t stream = 0;
    moment by;
    byte_use use = byte_use::read;
    std::vector<byte_range> ranges;  // ascending
  };
  using accesses = std::deque<access>;

  static constexpr std::size_t max_moments = 2048, max_accesses = 256, max_allocations = 4096;

  history& history_of(stream& target);
  void begin_body(stream& target, std::uint64_t iteration);
  void join_point(clock& target, const stream_point& point) const;
  void join_implicit(clock& target, const history& of) const;
  void join_all(clock& target) const;
  void learn();
  void forget_freed();
  std::optional<memory::allocation> memory_at(memory::address byte) const;
  static bool precedes(const access& first, const access& second);
  void insert(access added);
  void compare(const access& before, const access& added, const memory::allocation& memory);
  void report(const access& before, const access& added, const byte_range& common,
              const memory::allocation& memory);
  bool is_pending(const access& each) const;

  const memory::address_space& space_;
  fault_log& faults_;
  clock host_;
  std::uint64_t host_version_ = 1;
  std::map<std::uint64_t, history> streams_;  // by id
  // By sequence of the allocation, or by address of graph memory, which each launch allocates.
  std::map<std::uint64_t, accesses> memory_;
  std::uint64_t next_sequence_ = 0;
  std::optional<body> body_;  // of the operations that are submitted
  std::set<point> failing_;
  std::set<std::tuple<std::string, std::string, std::uint64_t>> reported_;
};

}  // namespace halfwarp::emulator
