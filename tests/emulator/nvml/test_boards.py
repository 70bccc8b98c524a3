# SPDX-License-Identifier: Apache-2.0
"""NVML over an emulated board, through cuda.bindings: sensors, bounds, and consistent values."""

import os

import pytest
from cuda.bindings import nvml
from cuda.core import emulation

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="about the emulated boards")


@pytest.fixture
def board():
    nvml.init_v2()
    before = emulation.sensors()
    yield nvml.device_get_handle_by_index_v2(0)
    emulation.set_sensors(**before)
    nvml.shutdown()


def refused(status, function, *arguments):
    with pytest.raises(nvml.NvmlError) as error:
        function(*arguments)
    return error.value.status == status


# sensor -> the functions that return it, beside those that `cuda.core.system` reads
TOLD = {
    "encoder_utilization": lambda b: nvml.device_get_encoder_utilization(b)[0],
    "decoder_utilization": lambda b: nvml.device_get_decoder_utilization(b)[0],
    "clock_event_reasons": nvml.device_get_current_clocks_event_reasons,
    "performance_state": nvml.device_get_performance_state,
    "fans": nvml.device_get_num_fans,
    "fan_speed": lambda b: nvml.device_get_fan_speed_v2(b, 0),
    "fan_target": lambda b: nvml.device_get_target_fan_speed(b, 0),
    "fan_policy": lambda b: nvml.device_get_fan_control_policy_v2(b, 0),
    "pcie_tx": lambda b: nvml.device_get_pcie_throughput(b, nvml.PcieUtilCounter.TX_BYTES),
    "pcie_rx": lambda b: nvml.device_get_pcie_throughput(b, nvml.PcieUtilCounter.RX_BYTES),
    "pcie_replays": nvml.device_get_pcie_replay_counter,
    "persistence_mode": nvml.device_get_persistence_mode,
    "auto_boost": lambda b: nvml.device_get_auto_boosted_clocks_enabled(b)[0],
    "display_connected": nvml.device_get_display_mode,
    "display_active": nvml.device_get_display_active,
    "power_limit": nvml.device_get_power_management_limit,
}


@pytest.mark.parametrize("name", TOLD)
def test_a_sensor_returns_its_set_value(board, name):
    value = 0 if emulation.sensors()[name] == 1 else 1
    value = 300_000 if name == "power_limit" else value
    if name != "fans":
        emulation.set_sensors(fans=1)
    emulation.set_sensors(**{name: value})
    assert int(TOLD[name](board)) == value


AT_REST = {name for name in TOLD if name.startswith(("encoder", "decoder", "pcie", "display"))}


def test_a_board_at_rest_moves_no_data(board):
    assert {name: emulation.sensors()[name] for name in AT_REST} == dict.fromkeys(AT_REST, 0)


def test_one_power_limit_is_queried_in_two_ways(board):
    emulation.set_sensors(power_limit=250_000)
    assert nvml.device_get_enforced_power_limit(board) == 250_000
    least, most = nvml.device_get_power_management_limit_constraints(board)
    assert least < 250_000 < most == nvml.device_get_power_management_default_limit(board)


def test_energy_grows_with_time_and_power(board):
    emulation.set_sensors(power=10_000_000)
    first = nvml.device_get_total_energy_consumption(board)
    assert nvml.device_get_total_energy_consumption(board) >= first > 0


class TestFans:
    def test_a_set_speed_is_manual_until_the_default_is_requested(self, board):
        nvml.device_set_fan_speed_v2(board, 0, 80)
        assert nvml.device_get_fan_speed(board) == nvml.device_get_target_fan_speed(board, 0) == 80
        assert nvml.device_get_fan_control_policy_v2(board, 0) == 1  # manual
        nvml.device_set_default_fan_speed_v2(board, 0)
        assert nvml.device_get_fan_speed(board) == 30
        assert nvml.device_get_fan_control_policy_v2(board, 0) == 0

    def test_speeds_are_percents_between_the_bounds(self, board):
        assert tuple(nvml.device_get_min_max_fan_speed(board)) == (0, 100)
        invalid = nvml.Return.ERROR_INVALID_ARGUMENT
        assert refused(invalid, nvml.device_set_fan_speed_v2, board, 0, 101)
        assert nvml.device_get_fan_speed(board) == 30

    def test_a_board_without_fans_has_no_speed(self, board):
        emulation.set_sensors(fans=0)
        invalid = nvml.Return.ERROR_INVALID_ARGUMENT
        assert refused(invalid, nvml.device_get_fan_speed, board)
        assert refused(invalid, nvml.device_set_fan_speed_v2, board, 0, 10)


class TestLinks:
    def test_a_link_exists_if_the_board_has_enough(self, board):
        emulation.set_sensors(nvlinks=2, nvlink_version=5)
        assert nvml.device_get_nvlink_state(board, 1) == 1
        assert nvml.device_get_nvlink_version(board, 1) == 5
        absent, invalid = nvml.Return.ERROR_NOT_SUPPORTED, nvml.Return.ERROR_INVALID_ARGUMENT
        assert refused(absent, nvml.device_get_nvlink_state, board, 2)
        assert refused(invalid, nvml.device_get_nvlink_version, board, 1000)

    def test_the_bus_is_as_wide_and_fast_as_it_can_be(self, board):
        widest = nvml.device_get_max_pcie_link_width(board)
        assert nvml.device_get_curr_pcie_link_width(board) == widest == 16
        newest = nvml.device_get_max_pcie_link_generation(board)
        assert nvml.device_get_curr_pcie_link_generation(board) == newest == 5
        assert nvml.device_get_gpu_max_pcie_link_generation(board) == newest
        assert nvml.device_get_pcie_speed(board) == 32_000

    def test_a_board_is_found_by_its_bus_id(self, board):
        pci = nvml.device_get_pci_info_v3(board)
        assert nvml.device_get_handle_by_pci_bus_id_v2(pci.bus_id) == board
        assert nvml.device_get_handle_by_pci_bus_id_v2(f"{pci.domain:x}:{pci.bus:x}:0") == board
        extra = nvml.device_get_pci_info_ext(board)
        assert (extra.bus_id, extra.bus, extra.base_class) == (pci.bus_id, pci.bus, 3)
        nobody, invalid = nvml.Return.ERROR_NOT_FOUND, nvml.Return.ERROR_INVALID_ARGUMENT
        assert refused(nobody, nvml.device_get_handle_by_pci_bus_id_v2, f"{pci.domain:x}:fe:0")
        assert refused(
            nobody, nvml.device_get_handle_by_pci_bus_id_v2, f"{pci.domain:x}:{pci.bus:x}:1"
        )
        assert refused(invalid, nvml.device_get_handle_by_pci_bus_id_v2, "nowhere")


class TestClocks:
    def test_a_clock_runs_between_its_bounds(self, board):
        for kind in (nvml.ClockType.CLOCK_GRAPHICS, nvml.ClockType.CLOCK_VIDEO):
            most = nvml.device_get_max_customer_boost_clock(board, kind)
            bounds = nvml.device_get_min_max_clock_of_p_state(board, kind, 0)
            assert bounds[0] <= nvml.device_get_clock_info(board, kind) <= bounds[1] == most
        absent = nvml.Return.ERROR_NOT_SUPPORTED
        assert refused(absent, nvml.device_get_min_max_clock_of_p_state, board, kind, 5)

    def test_the_utilization_equals_the_sensors(self, board):
        emulation.set_sensors(gpu_utilization=70, memory_utilization=20)
        pstates = nvml.device_get_dynamic_pstates_info(board)
        busy = [each.percentage for each in pstates.utilization[:3]]
        assert [int(each) for each in busy] == [70, 20, 0]


class TestBoard:
    def test_impossible_settings_are_refused(self, board):
        assert nvml.device_get_max_mig_device_count(board) == 0
        assert nvml.device_get_multi_gpu_board(board) == 0
        assert nvml.device_get_compute_mode(board) == 0
        assert nvml.unit_get_count() == nvml.get_excluded_device_count() == 0
        nobody = nvml.Return.ERROR_NOT_FOUND
        assert refused(nobody, nvml.device_get_handle_by_serial, "0123456789")

    def test_texts_of_the_board_are_marked_as_invented(self, board):
        assert nvml.device_get_board_part_number(board).startswith("EMULATED")
        assert nvml.device_get_vbios_version(board).startswith("E0")
        assert nvml.device_get_inforom_image_version(board).startswith("E0")
        nvml.device_validate_inforom(board)

    def test_unknown_modes_are_refused_and_change_nothing(self, board):
        nvml.device_set_persistence_mode(board, 0)
        invalid = nvml.Return.ERROR_INVALID_ARGUMENT
        assert refused(invalid, nvml.device_set_persistence_mode, board, 2)
        assert nvml.device_get_persistence_mode(board) == 0

    def test_its_processors_are_those_of_the_process_at_its_start(self, board):
        count = os.sysconf("SC_NPROCESSORS_CONF")
        words = nvml.device_get_cpu_affinity(board, count // 64 + 1)
        near = {i for i in range(64 * len(words)) if int(words[i // 64]) >> i % 64 & 1}
        within = nvml.device_get_cpu_affinity_within_scope(board, len(words), 0)
        assert list(within) == list(words)
        before = os.sched_getaffinity(0)
        try:
            os.sched_setaffinity(0, {min(before)})
            nvml.device_set_cpu_affinity(board)
            assert os.sched_getaffinity(0) == near >= before
        finally:
            os.sched_setaffinity(0, before)

    def test_its_node_of_memory_is_the_first(self, board):
        assert nvml.device_get_numa_node_id(board) == 0
        for scope in (0, 1):
            assert list(nvml.device_get_memory_affinity(board, 3, scope)) == [1, 0, 0]

    @pytest.mark.parametrize(
        "function",
        [nvml.device_get_memory_affinity, nvml.device_get_cpu_affinity_within_scope],
    )
    def test_an_unknown_scope_or_an_empty_set_is_refused(self, board, function):
        invalid = nvml.Return.ERROR_INVALID_ARGUMENT
        assert refused(invalid, function, board, 2, 2)
        assert refused(invalid, function, board, 0, 0)
        assert len(function(board, 2, 1)) == 2

    def test_all_its_memory_is_visible_to_the_host(self, board):
        seen, own = nvml.device_get_bar1_memory_info(board), nvml.device_get_memory_info_v2(board)
        assert (seen.bar1_total, seen.bar1_used) == (own.total, own.used)
        assert seen.bar1_free == own.total - own.used
