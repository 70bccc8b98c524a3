// SPDX-License-Identifier: Apache-2.0
// Loads and stores of every state space.
#include <algorithm>
#include <array>
#include <utility>

#include "emulator/exec/lanes/location.hpp"
#include "emulator/exec/lanes/numbers.hpp"

namespace halfwarp::emulator::exec {

// A word of a handler's name.
struct word {
  char text[12];
  constexpr std::string_view view() const { return text; }
};

// The words of a name, joined by dots. All instruction sets share its memory.
template <word First, word... Others>
inline constexpr auto joined_text = [] {
  std::array<char, (First.view().size() + ... + (1 + Others.view().size()))> text{};
  char* at = std::ranges::copy(First.view(), text.data()).out;
  ((*at = '.', at = std::ranges::copy(Others.view(), at + 1).out), ...);
  return text;
}();
template <word... Words>
constexpr std::string_view joined{joined_text<Words...>.data(), joined_text<Words...>.size()};

namespace HALFWARP_ISA {
namespace {

template <class M>
[[gnu::always_inline]] inline M load_one(uint64_t at) {
  M value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(at), sizeof(M));
  return value;
}
template <class M>
[[gnu::always_inline]] inline void store_one(uint64_t at, M value) {
  __builtin_memcpy(reinterpret_cast<void*>(at), &value, sizeof(M));
}

// Copies the addresses, because a vector load may overwrite the registers that store them.
template <class A>
struct address_copy {
  alignas(64) A address[warp_size];
  explicit address_copy(located<A>& from) {
    for (int l = 0; l < warp_size; ++l) address[l] = from.address[l];
    from.address = address;
  }
};

// Loads an M from memory into a D register, extended by the signedness of M.
template <class M, class D, class A>
[[gnu::always_inline]] inline void load_half(D* d, const located<A>& from, int half) {
  int first = half * half_warp;
  if (sizeof(M) == sizeof(D) && from.is_contiguous) {
    const void* source = reinterpret_cast<const void*>(from.host(first));
    __builtin_memcpy(d + first, source, half_warp * sizeof(D));
  } else if (from.is_uniform) {
    D value = static_cast<D>(load_one<M>(from.host(first)));
    for (int l = first; l < first + half_warp; ++l) d[l] = value;
  } else {
#pragma GCC unroll 4  // full unrolling made these loops a quarter of the library's size
    for (int l = first; l < first + half_warp; ++l) {
      d[l] = static_cast<D>(load_one<M>(from.host(l)));
    }
  }
}

template <class M, class D, class A>
[[gnu::always_inline]] inline void load_lanes(warp& w, D* d, const located<A>& from) {
  if (w.active == all_lanes) {
#pragma GCC unroll 1
    for (int half = 0; half < 2; ++half) load_half<M>(d, from, half);
  } else {
    for_active(w, [&](int l) { d[l] = static_cast<D>(load_one<M>(from.host(l))); });
  }
}

template <class M, class D, class Location>
void load(warp& w, const instruction& instr) {
  uint32_t count = instr.flags & access_flag::count;
  access requested{report::access_kind::load, static_cast<uint32_t>(count * sizeof(M))};
  auto from = Location::find(w, instr, requested);
  if (count == 1) return load_lanes<M>(w, w.at<D>(instr.operand[0]), from);
  address_copy copy{from};
  from.is_contiguous = false;
  for (uint32_t i = 0; i < count; ++i, from.base += sizeof(M)) {
    load_lanes<M>(w, w.at<D>(instr.operand[i]), from);
  }
}

template <class M, class S, class A>
[[gnu::always_inline]] inline void store_half(const S* s, const located<A>& to, int half) {
  int first = half * half_warp;
  if (sizeof(M) == sizeof(S) && to.is_contiguous) {
    void* target = reinterpret_cast<void*>(to.host(first));
    __builtin_memcpy(target, s + first, half_warp * sizeof(S));
  } else {
#pragma GCC unroll 4
    for (int l = first; l < first + half_warp; ++l) store_one(to.host(l), static_cast<M>(s[l]));
  }
}

template <class M, class S, class Location>
void store(warp& w, const instruction& instr) {
  uint32_t count = instr.flags & access_flag::count;
  access requested{report::access_kind::store, static_cast<uint32_t>(count * sizeof(M))};
  auto to = Location::find(w, instr, requested);
  if (count > 1) to.is_contiguous = false;
  for (uint32_t i = 0; i < count; ++i, to.base += sizeof(M)) {
    const S* s = w.at<S>(instr.operand[i]);
    if (w.active == all_lanes) {
#pragma GCC unroll 1
      for (int half = 0; half < 2; ++half) store_half<M>(s, to, half);
    } else {
      for_active(w, [&](int l) { store_one(to.host(l), static_cast<M>(s[l])); });
    }
  }
}

using form = lane_shape::form;

// Accesses by the shape that the first instruction with these addresses found. A shape that is not
// known, and lanes that are not active, take the other handler.
template <class M, class Location>
void load_shaped(warp& w, const instruction& instr) {
  const lane_shape& shape = w.shapes[instr.shape];
  const uint64_t low = shape.low + instr.target, high = shape.high + instr.target;
  M* d = w.at<M>(instr.operand[0]);
  if (shape.lanes == form::consecutive) {
    Location::prefetch(shape, low);
    Location::prefetch(shape, high);
    __builtin_memcpy(d, reinterpret_cast<const void*>(low), half_warp * sizeof(M));
    __builtin_memcpy(d + half_warp, reinterpret_cast<const void*>(high), half_warp * sizeof(M));
  } else if (shape.lanes == form::equal) {
    const M first = load_one<M>(low), second = load_one<M>(high);
    for (int l = 0; l < half_warp; ++l) d[l] = first;
    for (int l = half_warp; l < warp_size; ++l) d[l] = second;
  } else {
    load<M, M, Location>(w, instr);
  }
}
template <class M, class Location>
void store_shaped(warp& w, const instruction& instr) {
  const lane_shape& shape = w.shapes[instr.shape];
  const uint64_t low = shape.low + instr.target, high = shape.high + instr.target;
  constexpr uint64_t bytes = half_warp * sizeof(M);
  if (shape.lanes != form::consecutive || !Location::may_store(w, instr, low, bytes) ||
      !Location::may_store(w, instr, high, bytes)) {
    return store<M, M, Location>(w, instr);
  }
  const M* s = w.at<M>(instr.operand[0]);
  __builtin_memcpy(reinterpret_cast<void*>(low), s, half_warp * sizeof(M));
  __builtin_memcpy(reinterpret_cast<void*>(high), s + half_warp, half_warp * sizeof(M));
}

// Prepares the shape of an access, unless this round of the block has found it.
template <class Location>
[[gnu::always_inline]] inline void prepare_shape(warp& w, const instruction& instr, uint32_t bytes,
                                                 uint32_t own, uint32_t extent) {
  lane_shape& shape = w.shapes[instr.shape];
  if (w.active != all_lanes) {
    shape.lanes = form::unknown;
    shape.round = 0;
  } else if (instr.shape < shape_count || shape.round != w.round) {
    Location::find_shape(w, instr, shape, bytes, own, extent);
    shape.round = w.round;
  }
}

// Finds the shape for `access`.
template <class M, class Location, handler Access>
void find_shape(warp& w, const instruction& instr) {
  prepare_shape<Location>(w, instr, sizeof(M), instr.target,
                          static_cast<uint32_t>(instr.operand[3]));
  Access(w, instr);
}

// The words of lanes in the widest vectors.
using words = vector_of<u32>::type;
constexpr int words_per_vector = vector_bytes / 4;
using word_numbers = std::make_index_sequence<words_per_vector>;

// Every second word of two vectors, from the word `First` on.
template <u32 First, std::size_t... N>
[[gnu::always_inline]] inline words every_second(words a, words b, std::index_sequence<N...>) {
  return __builtin_shuffle(a, b, words{static_cast<u32>(2 * N + First)...});
}
// The words of two vectors in turn, from the word `First` of each on.
template <u32 First, std::size_t... N>
[[gnu::always_inline]] inline words in_turn(words a, words b, std::index_sequence<N...>) {
  return __builtin_shuffle(a, b,
                           words{static_cast<u32>(First + N / 2 + N % 2 * words_per_vector)...});
}

// Separates the elements of two or four words of each lane.
template <int Count>
[[gnu::always_inline]] inline void separate(words (&v)[Count]) {
  constexpr word_numbers numbers;
  for (int step = 1; step < Count; step *= 2) {
    words from[Count];
    for (int i = 0; i < Count; ++i) from[i] = v[i];
    for (int i = 0; i < Count; i += 2) {
      v[i / 2] = every_second<0>(from[i], from[i + 1], numbers);
      v[i / 2 + Count / 2] = every_second<1>(from[i], from[i + 1], numbers);
    }
  }
}
// Joins them.
template <int Count>
[[gnu::always_inline]] inline void join(words (&v)[Count]) {
  constexpr word_numbers numbers;
  for (int step = 1; step < Count; step *= 2) {
    words from[Count];
    for (int i = 0; i < Count; ++i) from[i] = v[i];
    for (int i = 0; i < Count / 2; ++i) {
      v[2 * i] = in_turn<0>(from[i], from[i + Count / 2], numbers);
      v[2 * i + 1] = in_turn<words_per_vector / 2>(from[i], from[i + Count / 2], numbers);
    }
  }
}

// `target` of a vector access has two distances, since operand 3 may be an element.
constexpr int own_bits = 16;
constexpr u32 own_distance(const instruction& instr) {
  return instr.target & ((1u << own_bits) - 1);
}

// Accesses of two or four words of each lane by shape.
template <int Count>
void load_words(warp& w, const instruction& instr) {
  const lane_shape& shape = w.shapes[instr.shape];
  if (shape.lanes != form::consecutive) return load<u32, u32, global_location>(w, instr);
  for (int first = 0; first < warp_size; first += half_warp) {
    const uint64_t from = (first ? shape.high : shape.low) + own_distance(instr);
    for (int at = 0; at < 4 * Count * half_warp; at += 64) {
      global_location::prefetch(shape, from + static_cast<uint64_t>(at));
    }
#pragma GCC unroll 1
    for (int l = 0; l < half_warp; l += words_per_vector) {
      words v[Count];
      __builtin_memcpy(v, reinterpret_cast<const u32*>(from) + Count * l, sizeof v);
      separate(v);
#pragma GCC unroll 4
      for (int i = 0; i < Count; ++i) {
        __builtin_memcpy(w.at<u32>(instr.operand[i]) + first + l, &v[i], sizeof v[i]);
      }
    }
  }
}
template <int Count>
void store_words(warp& w, const instruction& instr) {
  const lane_shape& shape = w.shapes[instr.shape];
  constexpr uint64_t bytes = 4 * Count * half_warp;
  const uint64_t low = shape.low + own_distance(instr), high = shape.high + own_distance(instr);
  if (shape.lanes != form::consecutive || !global_location::may_store(w, instr, low, bytes) ||
      !global_location::may_store(w, instr, high, bytes)) {
    return store<u32, u32, global_location>(w, instr);
  }
  for (int first = 0; first < warp_size; first += half_warp) {
    u32* const to = reinterpret_cast<u32*>(first ? high : low);
#pragma GCC unroll 1
    for (int l = 0; l < half_warp; l += words_per_vector) {
      words v[Count];
#pragma GCC unroll 4
      for (int i = 0; i < Count; ++i) {
        __builtin_memcpy(&v[i], w.at<u32>(instr.operand[i]) + first + l, sizeof v[i]);
      }
      join(v);
      __builtin_memcpy(to + Count * l, v, sizeof v);
    }
  }
}

[[gnu::noinline]] void prepare_words(warp& w, const instruction& instr, uint32_t bytes) {
  prepare_shape<global_location>(w, instr, bytes, own_distance(instr), instr.target >> own_bits);
}
template <int Count, handler Access>
void find_words(warp& w, const instruction& instr) {
  prepare_words(w, instr, 4 * Count);
  Access(w, instr);
}

// Sets d = a * b + c for one half of a warp.
template <form A, form B>
[[gnu::always_inline]] inline void multiply_add(float* d, uint64_t at_a, uint64_t at_b,
                                                const float* c) {
  const auto* a = reinterpret_cast<const float*>(at_a);
  const auto* b = reinterpret_cast<const float*>(at_b);
#pragma GCC ivdep
  for (int l = 0; l < half_warp; ++l) {
    const float x = a[A == form::equal ? 0 : l], y = b[B == form::equal ? 0 : l];
    const float sum = __builtin_fmaf(x, y, c[l]);
    d[l] = sum == sum ? sum : from_bits(0x7fff'ffffu);
  }
}

template <form A, form B>
void multiply_add(warp& w, const instruction& first, const instruction& second) {
  const instruction& product = (&second)[1];
  const lane_shape &a = w.shapes[first.shape], &b = w.shapes[second.shape];
  float* d = w.at<float>(product.operand[0]);
  const float* c = w.at<float>(product.operand[3]);
  multiply_add<A, B>(d, a.low + first.target, b.low + second.target, c);
  multiply_add<A, B>(d + half_warp, a.high + first.target, b.high + second.target, c + half_warp);
}

// Two loads by shape, and the sum of their product and a third value. Nothing else reads what they
// load, so it stays out of the registers.
void load_load_fma(warp& w, const instruction& first) {
  const instruction& second = (&first)[1];
  const form a = w.shapes[first.shape].lanes, b = w.shapes[second.shape].lanes;
  if (a == form::consecutive && b == form::equal) {
    return multiply_add<form::consecutive, form::equal>(w, first, second);
  }
  if (a == form::equal && b == form::consecutive) {
    return multiply_add<form::equal, form::consecutive>(w, first, second);
  }
  second.run(w, first);
  second.run(w, second);
  const instruction& product = (&first)[2];
  product.run(w, product);
}

// Accesses of words in shared memory at the offsets `target` and `cache`, of the first lane of each
// half. A transcript has checked them, see schedule/transcript.hpp.
void load_known(warp& w, const instruction& instr) {
  u32* const d = w.at<u32>(instr.operand[0]);
  __builtin_memcpy(d, w.shared + instr.target, half_warp * sizeof(u32));
  __builtin_memcpy(d + half_warp, w.shared + instr.cache, half_warp * sizeof(u32));
}
void load_known_equal(warp& w, const instruction& instr) {
  u32* const d = w.at<u32>(instr.operand[0]);
  const auto shared = reinterpret_cast<uint64_t>(w.shared);
  const u32 low = load_one<u32>(shared + instr.target), high = load_one<u32>(shared + instr.cache);
  for (int l = 0; l < half_warp; ++l) d[l] = low;
  for (int l = half_warp; l < warp_size; ++l) d[l] = high;
}
void store_known(warp& w, const instruction& instr) {
  const u32* const s = w.at<u32>(instr.operand[0]);
  __builtin_memcpy(w.shared + instr.target, s, half_warp * sizeof(u32));
  __builtin_memcpy(w.shared + instr.cache, s + half_warp, half_warp * sizeof(u32));
}
// The immediate consists of the offsets of consecutive words. Equal words are at the other two.
void multiply_add_known(warp& w, const instruction& instr) {
  const auto shared = reinterpret_cast<uint64_t>(w.shared);
  const auto at = static_cast<uint64_t>(instr.immediate);
  float* d = w.at<float>(instr.operand[0]);
  const float* c = w.at<float>(instr.operand[3]);
  constexpr form each = form::consecutive, one = form::equal;
  multiply_add<each, one>(d, shared + static_cast<u32>(at), shared + instr.target, c);
  multiply_add<each, one>(d + half_warp, shared + (at >> 32), shared + instr.cache, c + half_warp);
}

// Adds words at the offsets of the immediate to those at the other two.
void add_known(warp& w, const instruction& instr) {
  u32* const d = w.at<u32>(instr.operand[0]);
  const auto at = static_cast<uint64_t>(instr.immediate);
  const u32 from[] = {instr.target, instr.cache}, with[] = {static_cast<u32>(at), u32(at >> 32)};
  for (int half = 0; half < 2; ++half) {
    u32 a[half_warp], b[half_warp];
    __builtin_memcpy(a, w.shared + from[half], sizeof a);
    __builtin_memcpy(b, w.shared + with[half], sizeof b);
    for (int l = 0; l < half_warp; ++l) d[half * half_warp + l] = a[l] + b[l];
  }
}

// Kernel parameters are equal for all threads, and the decoder knows the offset.
template <class M, class D>
void load_parameter(warp& w, const instruction& instr) {
  uint32_t count = instr.flags & access_flag::count;
  uint64_t from = reinterpret_cast<uint64_t>(w.parameters) + static_cast<uint64_t>(instr.immediate);
  for (uint32_t i = 0; i < count; ++i) {
    D value = static_cast<D>(load_one<M>(from + i * sizeof(M)));
    assign(w, w.at<D>(instr.operand[i]), [=](int) { return value; });
  }
}

// Only checks the address: prefetch, discard.
void touch(warp& w, const instruction& instr) {
  global_location::find(w, instr, {report::access_kind::load, 1});
}

// d = a + first byte of the frame in local memory (a variable of a called function)
void local_address(warp& w, const instruction& instr) {
  uint64_t* d = w.at<uint64_t>(instr.operand[0]);
  uint64_t address = static_cast<uint64_t>(instr.immediate) + w.frame_base;
  assign(w, d, [=](int) { return address; });
}

constexpr word type_word(char letter, int bits) {
  if (bits < 10) return {{letter, static_cast<char>('0' + bits)}};
  return {{letter, static_cast<char>('0' + bits / 10), static_cast<char>('0' + bits % 10)}};
}
template <class M>
constexpr word memory_word = type_word(is_signed_type<M> ? 's' : 'u', bits_of<M>);
template <class R>
constexpr word register_word = type_word('b', bits_of<R>);

struct parameters {};
template <class Location, class M, class R>
constexpr handler load_from = &load<M, R, Location>;
template <class M, class R>
constexpr handler load_from<parameters, M, R> = &load_parameter<M, R>;

// Appends rows with the names ld.SPACE.MEMORY.REGISTER and st.SPACE.MEMORY.REGISTER: the type in
// memory, and the bits of the register.
template <word Space, class Location>
class row_writer {
 public:
  constexpr explicit row_writer(handler_entry*& at) : at_{at} {}

  constexpr void loads() {
    load_types<i8, i16, i32, i64>();
    load_types<i16, i32, i64>();
    load_types<i32, i64>();
    load_types<u8, u16, u32, u64>();
    load_types<u16, u16, u32, u64>();
    load_types<u32, u32, u64>();
    load_types<u64, u64>();
  }
  constexpr void stores() {
    store_types<u8, u16, u32, u64>();
    store_types<u16, u16, u32, u64>();
    store_types<u32, u32, u64>();
    store_types<u64, u64>();
  }

 private:
  template <class M, class... Registers>
  constexpr void load_types() {
    ((*at_++ = {joined<word{"ld"}, Space, memory_word<M>, register_word<Registers>>,
                load_from<Location, M, Registers>}),
     ...);
  }
  template <class M, class... Registers>
  constexpr void store_types() {
    ((*at_++ = {joined<word{"st"}, Space, memory_word<M>, register_word<Registers>>,
                &store<M, Registers, Location>}),
     ...);
  }

  handler_entry*& at_;
};

template <word Space, class Location>
constexpr void add_accesses(handler_entry*& at) {
  row_writer<Space, Location>{at}.loads();
  row_writer<Space, Location>{at}.stores();
}

// Rows of the handlers by shape: the plain name, and the word after it.
template <word Space, class Location, class M>
constexpr void add_shaped(handler_entry*& at) {
  constexpr word load_word{"ld"}, store_word{"st"}, first{"first"}, next{"next"};
  constexpr word memory = memory_word<M>, in_register = register_word<M>;
  constexpr handler load_next = &load_shaped<M, Location>, store_next = &store_shaped<M, Location>;
  *at++ = {joined<load_word, Space, memory, in_register, next>, load_next};
  *at++ = {joined<load_word, Space, memory, in_register, first>,
           &find_shape<M, Location, load_next>};
  *at++ = {joined<store_word, Space, memory, in_register, next>, store_next};
  *at++ = {joined<store_word, Space, memory, in_register, first>,
           &find_shape<M, Location, store_next>};
}

constexpr auto entries = [] {
  std::array<handler_entry, 113 + 30> list{};
  handler_entry* at = list.data();
  add_accesses<word{"global"}, global_location>(at);
  add_accesses<word{"local"}, local_location>(at);
  add_accesses<word{"shared32"}, shared_location<uint32_t>>(at);
  add_accesses<word{"shared64"}, shared_location<uint64_t>>(at);
  row_writer<word{"param"}, parameters>{at}.loads();
  add_shaped<word{"global"}, global_location, u32>(at);
  add_shaped<word{"global"}, global_location, u64>(at);
  add_shaped<word{"shared32"}, shared_location<u32>, u32>(at);
  add_shaped<word{"shared32"}, shared_location<u32>, u64>(at);
  *at++ = {"ld.global.u32.b32.v2.next", &load_words<2>};
  *at++ = {"ld.global.u32.b32.v2.first", &find_words<2, &load_words<2>>};
  *at++ = {"ld.global.u32.b32.v4.next", &load_words<4>};
  *at++ = {"ld.global.u32.b32.v4.first", &find_words<4, &load_words<4>>};
  *at++ = {"st.global.u32.b32.v2.next", &store_words<2>};
  *at++ = {"st.global.u32.b32.v2.first", &find_words<2, &store_words<2>>};
  *at++ = {"st.global.u32.b32.v4.next", &store_words<4>};
  *at++ = {"st.global.u32.b32.v4.first", &find_words<4, &store_words<4>>};
  *at++ = {"fused.ld.ld.fma.f32", &load_load_fma};
  *at++ = {"known.ld", &load_known};
  *at++ = {"known.ld.equal", &load_known_equal};
  *at++ = {"known.st", &store_known};
  *at++ = {"known.fma", &multiply_add_known};
  *at++ = {"known.add", &add_known};
  *at++ = {"local_address.b64", &local_address};
  *at++ = {"touch.global", &touch};
  std::ranges::sort(list, {}, &handler_entry::name);
  return list;
}();
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family memory_handlers;
const handler_family memory_handlers{entries};

}  // namespace HALFWARP_ISA
}  // namespace halfwarp::emulator::exec
