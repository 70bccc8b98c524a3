// SPDX-License-Identifier: Apache-2.0
// Thrust and CUB against the standard library, for counts around the sizes of warps and tiles.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <random>
#include <vector>

namespace {

template <class Number>
using on_device = thrust::device_vector<Number>;

template <class Number>
bool is_equal(const on_device<Number>& actual, const std::vector<Number>& expected) {
  std::vector<Number> values(actual.size());
  thrust::copy(actual.begin(), actual.end(), values.begin());
  return values == expected;
}

template <class Number>
bool is_sorted_by_cub(const std::vector<Number>& numbers) {
  on_device<Number> input = numbers, output(numbers.size());
  const int count = static_cast<int>(numbers.size());
  size_t bytes = 0;
  const auto sort = [&](void* memory) {
    cub::DeviceRadixSort::SortKeysDescending(memory, bytes, input.data().get(), output.data().get(),
                                             count);
  };
  sort(nullptr);
  on_device<char> memory(bytes);
  sort(memory.data().get());
  auto expected = numbers;
  std::sort(expected.rbegin(), expected.rend());
  return is_equal(output, expected);
}

// Returns the number of algorithms with the right result.
template <class Number>
int right_algorithms(int count) {
  std::mt19937 generator(count);
  std::vector<Number> numbers(count), expected(count);
  for (Number& each : numbers) each = static_cast<Number>(generator() % 1000);
  on_device<Number> values = numbers;
  const Number sum = std::accumulate(numbers.begin(), numbers.end(), Number{});
  int right = thrust::reduce(values.begin(), values.end()) == sum;
  thrust::inclusive_scan(values.begin(), values.end(), values.begin());
  std::partial_sum(numbers.begin(), numbers.end(), expected.begin());
  right += is_equal(values, expected);
  values = numbers;
  thrust::sort(values.begin(), values.end());
  expected = numbers;
  std::sort(expected.begin(), expected.end());
  right += is_equal(values, expected);
  values.erase(thrust::unique(values.begin(), values.end()), values.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  right += is_equal(values, expected);
  return right + is_sorted_by_cub(numbers);
}

}  // namespace

int main() {
  for (const int count : {1, 33, 20000}) {
    std::printf("%d %d ", right_algorithms<int>(count), right_algorithms<double>(count));
  }
  std::printf("%d\n", cudaDeviceSynchronize());
}
