// SPDX-License-Identifier: Apache-2.0
#include "emulator/module/unmarked.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "emulator/exec/program.hpp"
#include "emulator/image/original.hpp"
#include "emulator/ptx/parser.hpp"

namespace halfwarp::emulator {
namespace {

using exec::program;

bool has_same_functions(const ptx::module& a, const ptx::module& b) {
  return std::ranges::equal(a.functions, b.functions, {}, &ptx::function::name,
                            &ptx::function::name);
}

const ptx::variable* find_variable(const std::vector<ptx::variable>& all, const ptx::variable& v) {
  const auto match = std::ranges::find_if(
      all, [&](const ptx::variable& each) { return each.name == v.name && each.size == v.size; });
  return match == all.end() ? nullptr : &*match;
}

// Gives variables their addresses in another program. Returns false if it lacks a variable.
bool share_variables(program& to, const program& from) {
  const ptx::module &source = *to.source, &other = *from.source;
  for (const ptx::variable& v : source.variables) {
    const ptx::variable* const match = find_variable(other.variables, v);
    if (!match) return false;
    to.addresses.push_back(from.address_of(*match));
  }
  for (std::size_t f = 0; f < source.functions.size(); ++f) {
    for (const ptx::variable& v : source.functions[f].variables) {
      const bool is_placed =
          v.space == ptx::state_space::global || v.space == ptx::state_space::const_;
      if (!is_placed) continue;
      const ptx::variable* const match = find_variable(other.functions[f].variables, v);
      if (!match) return false;
      to.inner_addresses[&v] = from.address_of(*match);
    }
  }
  return true;
}

std::shared_ptr<program> without_marks(const program& marked) {
  const auto text = image::original_ptx(*marked.source->text);
  if (!text) return nullptr;
  auto parsed = ptx::parse(*text);
  if (!parsed || !has_same_functions(*parsed.value, *marked.source)) return nullptr;
  auto result = std::make_shared<program>();
  result->source = std::move(parsed.value);
  result->space = marked.space;
  result->device = marked.device;
  if (!share_variables(*result, marked)) return nullptr;
  for (const auto& each : marked.kernels) {
    result->kernels.push_back(
        std::make_unique<exec::kernel>(*result, each->function(), each->attributes()));
  }
  return result;
}

// Programs without marks, as long as the code with marks exists.
class program_cache {
 public:
  std::shared_ptr<const program> find(const program& marked,
                                      const std::shared_ptr<exec::executable>& code) {
    const std::lock_guard lock{mutex_};
    std::erase_if(entries_, [](const auto& each) { return each.second.code.expired(); });
    const auto [place, is_new] = entries_.try_emplace(&marked);
    if (is_new) place->second = {code, without_marks(marked)};
    return place->second.original;
  }

 private:
  struct entry {
    std::weak_ptr<exec::executable> code;
    std::shared_ptr<const program> original;  // null: the code has no marks
  };
  std::mutex mutex_;
  std::map<const program*, entry> entries_;
};

}  // namespace

std::shared_ptr<const exec::kernel> unmarked_kernel(const exec::kernel& entry,
                                                    const std::shared_ptr<exec::executable>& code) {
  static auto* const cache = new program_cache;  // worker threads may use it until the end
  const auto original = cache->find(entry.owner(), code);
  if (!original) return nullptr;
  const auto match = std::ranges::find(original->kernels, entry.name(), &exec::kernel::name);
  return match == original->kernels.end()
             ? nullptr
             : std::shared_ptr<const exec::kernel>{original, match->get()};
}

}  // namespace halfwarp::emulator
