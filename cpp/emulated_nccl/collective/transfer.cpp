// SPDX-License-Identifier: Apache-2.0
// Moves the data of one task in chunks, between buffers and shared memory.
#include <algorithm>
#include <cstring>

#include "emulated_nccl/call/kinds.hpp"
#include "emulated_nccl/collective/execution.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl {
namespace {

// Copies elements, multiplied by the scalar if the program created the operation.
void copy_input(const task& each, const unsigned char* from, std::size_t elements,
                const unsigned char* scalar, unsigned char* to) {
  const auto type = each.call.type;
  const auto size = size_of(type);
  if (!scalar) {
    std::memcpy(to, from, elements * size);
    return;
  }
  value_block factor, values;
  load_values(type, scalar, 1, factor);
  for (std::size_t done = 0; done < elements; done += block_elements) {
    const auto count = std::min(block_elements, elements - done);
    load_values(type, from + done * size, count, values);
    scale_values(type, factor, count, values);
    store_values(type, values, count, to + done * size);
  }
}

// Returns how many elements the next chunk of a task has.
std::uint64_t next_elements(const message& call, std::uint64_t done, std::size_t chunk_bytes) {
  return std::min(chunk_bytes / size_of(call.type), call.count - done);
}

}  // namespace

// A chunk has two halves: the next is written when all ranks have read the previous one.
void execution::advance_collective(const task& each, progress& state, unsigned char* const* views) {
  const auto& call = each.call;
  auto& own = shared_.rank(owner_.rank);
  const auto parts = collective_of(call.kind).has_parts ? static_cast<unsigned>(owner_.ranks) : 1;
  if (!state.is_started) state.chunk = own.produced.load();
  const bool is_first = state.offset == 0;
  state.is_started = true;
  while (!state.is_complete) {
    const auto elements = next_elements(call, state.offset, shared_.slot_bytes() / parts);
    const auto await_all = [&](std::atomic<std::uint64_t> rank_entry::*counter,
                               std::uint64_t least) {
      bool is_reached = true;
      for (int i = 0; i < owner_.ranks; ++i) {
        if ((shared_.rank(i).*counter).load() >= least) continue;
        await(i);
        is_reached = false;
      }
      return is_reached;
    };
    if (!state.is_written) {
      if (state.chunk > 0 && !await_all(&rank_entry::consumed, state.chunk - 1)) return;
      write_chunk(each, state.chunk, state.offset, elements, views);
      own.chunk[state.chunk % 2] = call;
      own.produced.store(state.chunk + 1);
      state.is_written = true;
      note_progress();
    }
    if (!await_all(&rank_entry::produced, state.chunk + 1)) return;
    if (is_first && !agrees(call, state.chunk)) return;
    if (receives(call, owner_.rank)) {
      read_chunk(each, state.chunk, state.offset, elements, views[1]);
    }
    state.offset += elements;
    own.consumed.store(++state.chunk);
    state.is_written = false;
    state.is_complete = state.offset >= call.count;
    note_progress();
  }
}

void execution::write_chunk(const task& each, std::uint64_t chunk, std::uint64_t offset,
                            std::uint64_t elements, unsigned char* const* views) {
  const auto& call = each.call;
  if (!sends(call, owner_.rank) || elements == 0) return;
  const auto size = size_of(call.type);
  const unsigned char* scalar = nullptr;
  if (call.operation == reduction::first_created) {
    scalar = each.scalar.address ? views[2] : each.scalar.bytes;
  }
  auto* to = shared_.slot(owner_.rank, chunk);
  const int parts = collective_of(call.kind).has_parts ? owner_.ranks : 1;
  for (int i = 0; i < parts; ++i, to += elements * size) {
    const auto first = static_cast<unsigned>(i) * call.count + offset;
    copy_input(each, views[0] + first * size, elements, scalar, to);
  }
}

void execution::read_chunk(const task& each, std::uint64_t chunk, std::uint64_t offset,
                           std::uint64_t elements, unsigned char* to) {
  const auto& call = each.call;
  const auto& kind = collective_of(call.kind);
  const auto bytes = elements * size_of(call.type);
  if (bytes == 0) return;
  const auto own_part = kind.has_parts ? static_cast<unsigned>(owner_.rank) * bytes : 0;
  to += offset * size_of(call.type);
  if (kind.combine == combination::reduce) {
    reduce_chunk(call, chunk, own_part, elements, to);
  } else if (kind.combine == combination::copy_root) {
    std::memcpy(to, shared_.slot(call.root, chunk) + own_part, bytes);
  } else {
    for (int i = 0; i < owner_.ranks; ++i, to += call.count * size_of(call.type)) {
      std::memcpy(to, shared_.slot(i, chunk) + own_part, bytes);
    }
  }
}

// Combines the values in the order of the ranks, so that all ranks compute the same bits.
void execution::reduce_chunk(const message& call, std::uint64_t chunk, std::uint64_t first,
                             std::uint64_t elements, unsigned char* to) {
  const auto type = call.type;
  const auto size = size_of(type);
  value_block sum, other;
  for (std::uint64_t done = 0; done < elements; done += block_elements) {
    const auto count = std::min<std::size_t>(block_elements, elements - done);
    const auto position = first + done * size;
    load_values(type, shared_.slot(0, chunk) + position, count, sum);
    for (int i = 1; i < owner_.ranks; ++i) {
      load_values(type, shared_.slot(i, chunk) + position, count, other);
      combine_values(type, call.operation, other, count, sum);
    }
    if (call.operation == reduction::avg) divide_values(type, owner_.ranks, count, sum);
    store_values(type, sum, count, to + done * size);
  }
}

// Compares the calls of all ranks; reports all of them if they differ.
bool execution::agrees(const message& call, std::uint64_t chunk) {
  std::string text;
  bool is_equal = true;
  for (int i = 0; i < owner_.ranks; ++i) {
    const message other = shared_.rank(i).chunk[chunk % 2];
    is_equal &= other == call;
    text += text_of("\n    rank %d: %s", i, describe_call(other).c_str());
  }
  if (!is_equal) {
    fail_all(result::invalid_usage,
             text_of("the ranks call different collectives of a communicator:%s", text.c_str()));
  }
  return is_equal;
}

// Completes when the receiver has read everything, as a send may on a GPU.
void execution::advance_send(const task& each, progress& state, const unsigned char* data) {
  const auto& call = each.call;
  auto& pair = shared_.pair(owner_.rank, call.root);
  const auto size = size_of(call.type);
  if (!state.is_started) state.chunk = pair.produced.load();
  while (!state.is_written) {
    if (state.chunk >= pair.consumed.load() + 2) return await(call.root);
    const auto elements = next_elements(call, state.offset, shared_.pair_bytes());
    if (elements > 0) {
      std::memcpy(shared_.pair_data(owner_.rank, call.root, state.chunk),
                  data + state.offset * size, elements * size);
    }
    pair.chunk[state.chunk % 2] = call;
    pair.produced.store(++state.chunk);
    state.offset += elements;
    state.is_started = true;
    state.is_written = state.offset >= call.count;
    note_progress();
  }
  state.is_complete = pair.consumed.load() >= state.chunk;
  if (!state.is_complete) await(call.root);
}

void execution::advance_receive(const task& each, progress& state, unsigned char* data) {
  const auto& call = each.call;
  auto& pair = shared_.pair(call.root, owner_.rank);
  const auto size = size_of(call.type);
  if (!state.is_started) state.chunk = pair.consumed.load();
  state.is_started = true;
  while (!state.is_complete) {
    if (pair.produced.load() <= state.chunk) return await(call.root);
    const message sent = pair.chunk[state.chunk % 2];
    if (sent.count != call.count || sent.type != call.type) {
      fail_all(
          result::invalid_usage,
          text_of("a send and its receive differ:\n    rank %d: %s\n    rank %d: %s", call.root,
                  describe_call(sent).c_str(), owner_.rank, describe_call(call).c_str()));
      return;
    }
    const auto elements = next_elements(call, state.offset, shared_.pair_bytes());
    if (elements > 0) {
      std::memcpy(data + state.offset * size,
                  shared_.pair_data(call.root, owner_.rank, state.chunk), elements * size);
    }
    state.offset += elements;
    pair.consumed.store(++state.chunk);
    state.is_complete = state.offset >= call.count;
    note_progress();
  }
}

}  // namespace halfwarp::emulated_nccl
