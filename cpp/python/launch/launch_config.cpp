// SPDX-License-Identifier: Apache-2.0
// LaunchConfig: from Python values to the native struct that the driver takes.
#include "python/launch/launch_config.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "driver/call.hpp"
#include "python/arguments/pack.hpp"
#include "python/errors.hpp"
#include "python/names.hpp"

namespace halfwarp::python {
namespace {

config_hooks above{};  // written once, when the extension is imported

constexpr int largest = std::numeric_limits<int>::max();

int wrong_shape(const char* field, PyObject* value, const char* advice = "") noexcept {
  PyErr_Format(PyExc_ValueError,
               "LaunchConfig.%s must be an int, or a tuple with up to 3 ints (got %R)%s", field,
               value, advice);
  return -1;
}

// Positional arguments stand in the order grid, cluster, block, which is easily overlooked.
int missing(config_argument field) noexcept {
  if (field == config_grid) return wrong_shape("grid", Py_None);
  return wrong_shape("block", Py_None,
                     ": give it by name, block=; the second positional argument is cluster");
}

// One extent: 0, or -1 with ValueError set. `whole` is what the user gave, for the message.
int read_extent(PyObject* value, const char* field, PyObject* whole, unsigned& extent) noexcept {
  long long number = 0;
  if (PyLong_CheckExact(value) && integer_digits{value}.count() <= 1) {
    number = integer_digits{value}.short_value();
  } else {
    if (!PyIndex_Check(value)) return wrong_shape(field, whole);
    const reference index = as_index(value);
    int overflow = 0;
    number = index ? PyLong_AsLongLongAndOverflow(index.get(), &overflow) : -1;
    if (PyErr_Occurred()) return -1;
    if (overflow != 0) number = overflow > 0 ? std::numeric_limits<long long>::max() : -1;
  }
  if (number < 1) {
    PyErr_Format(PyExc_ValueError, "LaunchConfig.%s value must be >= 1 (got %R)", field, whole);
    return -1;
  }
  if (number > largest) {
    PyErr_Format(PyExc_ValueError, "LaunchConfig.%s value must be <= %d (got %R)", field, largest,
                 whole);
    return -1;
  }
  extent = static_cast<unsigned>(number);
  return 0;
}

int read_dimensions(PyObject* value, const char* field, dimensions& result) noexcept {
  dimensions read{1, 1, 1};
  if (PyTuple_Check(value) || PyList_Check(value)) {
    const reference items = as_tuple(value);
    if (!items) return -1;
    unsigned* const extents[] = {&read.x, &read.y, &read.z};
    const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
    if (count > 3) return wrong_shape(field, value);
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (read_extent(PyTuple_GET_ITEM(items.get(), i), field, value, *extents[i]) < 0) return -1;
    }
  } else if (read_extent(value, field, value, read.x) < 0) {
    return -1;
  }
  result = read;
  return 0;
}

int set_cluster(config_fields& config, PyObject* value) noexcept {
  if (value != Py_None) return read_dimensions(value, "cluster", config.cluster);
  config.cluster = {0, 0, 0};
  return 0;
}

int set_shared_memory(config_fields& config, PyObject* value) noexcept {
  if (value == Py_None) {
    config.native.sharedMemBytes = 0;
    return 0;
  }
  if (!PyIndex_Check(value)) {
    PyErr_Format(PyExc_TypeError, "LaunchConfig.shmem_size must be an int (bytes), got %R", value);
    return -1;
  }
  const reference index = as_index(value);
  int overflow = 0;
  const long long bytes = index ? PyLong_AsLongLongAndOverflow(index.get(), &overflow) : -1;
  if (PyErr_Occurred()) return -1;
  if (overflow > 0 || bytes > largest) {
    PyErr_Format(PyExc_OverflowError, "LaunchConfig.shmem_size must be <= %d bytes, got %R",
                 largest, value);
    return -1;
  }
  if (overflow < 0 || bytes < 0) {
    PyErr_Format(PyExc_ValueError, "LaunchConfig.shmem_size must be >= 0 bytes, got %R", value);
    return -1;
  }
  config.native.sharedMemBytes = static_cast<unsigned>(bytes);
  return 0;
}

int set_flag(bool& flag, PyObject* value) noexcept {
  const int truth = as_truth(value);
  if (truth >= 0) flag = truth != 0;
  return truth < 0 ? -1 : 0;
}

CUlaunchAttribute& add_attribute(config_fields& config, CUlaunchAttributeID id) noexcept {
  CUlaunchAttribute& attribute = config.attributes[config.native.numAttrs++];
  attribute = {};
  attribute.id = id;
  return attribute;
}

void add_attributes(config_fields& config) noexcept {
  config.native.numAttrs = 0;
  if (is_set(config.cluster)) {
    auto& value = add_attribute(config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).value;
    value.clusterDim.x = config.cluster.x;
    value.clusterDim.y = config.cluster.y;
    value.clusterDim.z = config.cluster.z;
  }
  if (config.is_cooperative) {
    add_attribute(config, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value.cooperative = 1;
  }
  if (config.programmatic_stream_serialization) {
    add_attribute(config, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        .value.programmaticStreamSerializationAllowed = 1;
  }
}

// Blocks of one axis: the user counts clusters where these are set.
bool multiply(unsigned grid, unsigned cluster, unsigned& blocks) noexcept {
  const unsigned long long product = static_cast<unsigned long long>(grid) * cluster;
  blocks = static_cast<unsigned>(product);
  return product <= static_cast<unsigned>(largest);
}

// Recomputes what depends on several fields.
int finish(config_fields& config) noexcept {
  const dimensions unit{1, 1, 1};
  const dimensions& cluster = is_set(config.cluster) ? config.cluster : unit;
  CUlaunchConfig& native = config.native;
  if (!multiply(config.grid.x, cluster.x, native.gridDimX) ||
      !multiply(config.grid.y, cluster.y, native.gridDimY) ||
      !multiply(config.grid.z, cluster.z, native.gridDimZ)) {
    PyErr_Format(PyExc_ValueError,
                 "LaunchConfig.grid counts clusters: grid times cluster must be <= %d in each axis",
                 largest);
    return -1;
  }
  add_attributes(config);
  config.is_valid = true;
  config.is_plain = config.further == nullptr;
  return 0;
}

void publish(config_fields& config, const config_fields& made) noexcept {
  config = made;
  config.native.attrs = config.attributes;
}

// The device whose context is current; false when none is, or when there is no driver to ask.
bool current_device(CUdevice& device) noexcept {
  if (driver::loader->ensure(driver::HALFWARP_DRIVER) < 0) {
    PyErr_Clear();
    return false;
  }
  return driver::try_call(driver::table->cuCtxGetDevice, &device) == CUDA_SUCCESS;
}

// Without a device to ask, launch does it.
int check_current_device(config_fields& config) noexcept {
  CUdevice device = 0;
  config.is_device_checked = !is_set(config.cluster) && !config.is_cooperative;
  if (!config.is_device_checked && current_device(device)) {
    if (check_device_supports(config, device) < 0) return -1;
    config.is_device_checked = true;
  }
  config.needs_care =
      config.is_cooperative || config.native.sharedMemBytes != 0 || !config.is_device_checked;
  return 0;
}

int set_field(config_fields& config, config_argument field, PyObject* value) noexcept {
  switch (field) {
    case config_grid:
      return read_dimensions(value, "grid", config.grid);
    case config_cluster:
      return set_cluster(config, value);
    case config_block: {
      dimensions block;
      if (read_dimensions(value, "block", block) < 0) return -1;
      config.native.blockDimX = block.x;
      config.native.blockDimY = block.y;
      config.native.blockDimZ = block.z;
      return 0;
    }
    case config_shmem_size:
      return set_shared_memory(config, value);
    case config_programmatic:
      return set_flag(config.programmatic_stream_serialization, value);
    default:
      return set_flag(config.is_cooperative, value);
  }
}

int refuse_older_spellings(PyObject* const* values) noexcept {
  if (values[config_stream] != nullptr) {
    PyErr_SetString(
        PyExc_TypeError,
        "LaunchConfig takes no stream: pass it to launch(stream, config, kernel, *args)");
    return -1;
  }
  if (values[config_cooperative_launch] == nullptr) return 0;
  if (values[config_is_cooperative] != nullptr) {
    PyErr_SetString(PyExc_TypeError,
                    "LaunchConfig got both is_cooperative and its older spelling "
                    "cooperative_launch; pass is_cooperative only");
    return -1;
  }
  return run_python([] {
    return PyErr_WarnEx(PyExc_DeprecationWarning,
                        "LaunchConfig(cooperative_launch=) is deprecated: use is_cooperative", 1);
  });
}

// The place of a keyword, by identity first since literal names are interned; that of no argument
// for a further attribute.
int find_argument(PyObject* keyword, std::size_t& place) noexcept {
  static const std::array<PyObject*, config_argument_count> known{
      interned<"grid">(),
      interned<"cluster">(),
      interned<"block">(),
      interned<"shmem_size">(),
      interned<"is_cooperative">(),
      interned<"programmatic_stream_serialization">(),
      interned<"cooperative_launch">(),
      interned<"stream">()};
  place = static_cast<std::size_t>(std::ranges::find(known, keyword) - known.begin());
  if (place < known.size()) return 0;
  for (place = 0; place < known.size(); ++place) {
    if (PyUnicode_Compare(keyword, known[place]) == 0) return 0;
  }
  if (PyDict_Contains(above.further_names, keyword) == 1) return 0;
  PyErr_Format(PyExc_TypeError, "LaunchConfig() got an unexpected keyword argument '%U'", keyword);
  return -1;
}

// False with TypeError set. `further` becomes a dict of those arguments, if there are any.
bool bind(PyObject* const* args, std::size_t count, PyObject* keywords, PyObject** values,
          reference& further) noexcept {
  if (count > config_positional_count) {
    PyErr_Format(PyExc_TypeError, "LaunchConfig() takes at most %zu positional arguments, got %zu",
                 config_positional_count, count);
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = args[i];
  const Py_ssize_t keyword_count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < keyword_count; ++i) {
    std::size_t place;
    if (find_argument(PyTuple_GET_ITEM(keywords, i), place) < 0) return false;
    PyObject* const value = args[count + static_cast<std::size_t>(i)];
    if (place == config_argument_count) [[unlikely]] {
      if (!further) further = reference{PyDict_New()};
      if (!further || PyDict_SetItem(further.get(), PyTuple_GET_ITEM(keywords, i), value) < 0) {
        return false;
      }
      continue;
    }
    if (values[place] != nullptr) {
      PyErr_Format(PyExc_TypeError, "LaunchConfig() got multiple values for argument '%U'",
                   PyTuple_GET_ITEM(keywords, i));
      return false;
    }
    values[place] = value;
  }
  return true;
}

PyObject* construct(PyObject* type, PyObject* const* args, std::size_t flagged_count,
                    PyObject* keywords) noexcept {
  static PyObject* const no_arguments = PyTuple_New(0);
  PyObject* values[config_argument_count]{};
  reference further;
  if (!bind(args, PyVectorcall_NARGS(flagged_count), keywords, values, further)) return nullptr;
  PyTypeObject* const made_type = reinterpret_cast<PyTypeObject*>(type);
  reference made{made_type->tp_new(made_type, no_arguments, nullptr)};
  if (!made || configure(fields_of<config_fields>(made.get()), values) < 0) return nullptr;
  if (further && above.set_further(made.get(), further.get()) < 0) return nullptr;
  return made.release();
}

// Of the driver in use, asked once; 0 while that fails.
int driver_version() noexcept {
  static std::atomic<int> known{0};
  int version = known.load(std::memory_order_relaxed);
  if (version == 0 &&
      driver::try_call(driver::table->cuDriverGetVersion, &version) == CUDA_SUCCESS) {
    known.store(version, std::memory_order_relaxed);
  }
  return version;
}

}  // namespace

int configure(config_fields& config, PyObject* const* values) noexcept {
  if (refuse_older_spellings(values) < 0) return -1;
  config_fields made{};
  for (const config_argument required : {config_grid, config_block}) {
    if (values[required] == nullptr) return missing(required);
    if (set_field(made, required, values[required]) < 0) return -1;
  }
  for (std::size_t i = 0; i < config_stream; ++i) {
    if (i == config_grid || i == config_block || values[i] == nullptr) continue;
    if (set_field(made, static_cast<config_argument>(i), values[i]) < 0) return -1;
  }
  if (finish(made) < 0 || check_current_device(made) < 0) return -1;
  publish(config, made);
  return 0;
}

int assign(config_fields& config, config_argument field, PyObject* value) noexcept {
  config_fields made = config;
  if (set_field(made, field, value) < 0 || finish(made) < 0) return -1;
  if (check_current_device(made) < 0) return -1;
  publish(config, made);
  return 0;
}

PyObject* dimensions_as_tuple(const dimensions& value) noexcept {
  if (!is_set(value)) Py_RETURN_NONE;
  return Py_BuildValue("(III)", value.x, value.y, value.z);
}

int check_device_supports(const config_fields& config, CUdevice device) noexcept {
  int major = 0, cooperative = 0;
  try {
    driver::call(driver::table->cuDeviceGetAttribute, &major,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    driver::call(driver::table->cuDeviceGetAttribute, &cooperative,
                 CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device);
  } catch (...) {
    translate_exception();
    return -1;
  }
  if (is_set(config.cluster) && major < 9) {
    PyErr_Format(above.cuda_error,
                 "thread block clusters are not supported on devices with compute capability < "
                 "9.0; device %d has %d.x: launch without cluster",
                 device, major);
    return -1;
  }
  if (config.is_cooperative && cooperative == 0) {
    PyErr_Format(above.cuda_error,
                 "cooperative kernels are not supported on device %d: launch without "
                 "is_cooperative",
                 device);
    return -1;
  }
  return 0;
}

int install_config_constructor(PyObject* type, const config_hooks& from) noexcept {
  above = from;
  reinterpret_cast<PyTypeObject*>(type)->tp_vectorcall = construct;
  return 0;
}

unsigned gather_attributes(const config_fields& config, PyObject* further,
                           CUlaunchAttribute* all) noexcept {
  unsigned count = config.native.numAttrs;
  std::copy_n(config.attributes, count, all);
  if (further == nullptr) return count;
  const auto& more = fields_of<further_attributes>(further);
  std::copy_n(more.values, more.count, all + count);
  return count + more.count;
}

int check_driver_knows(PyObject* further) noexcept {
  if (further == nullptr) return 0;
  const int needed = fields_of<further_attributes>(further).driver_version;
  const int there = driver_version();
  if (there == 0 || there >= needed) return 0;
  run_python([=] { above.raise_too_old(further, there); });
  return -1;
}

}  // namespace halfwarp::python
