# SPDX-License-Identifier: Apache-2.0
"""Results of the probes of driver, libraries and backend on this machine and on simulated ones."""

import os
from pathlib import Path

import pytest
from cuda.bindings import driver as low
from cuda.core import Device

from halfwarp.doctor import places
from halfwarp.doctor.apart import examine
from halfwarp.doctor.inside import run
from halfwarp.doctor.probes import driver, libraries


def test_devices_equal_those_of_the_backend():
    facts = run("backend").facts
    devices = Device.get_all_devices()
    assert [each["name"] for each in facts["devices"]] == [each.name for each in devices]
    capability = devices[0].compute_capability
    first = facts["devices"][0]
    assert first["compute_capability"] == f"{capability.major}.{capability.minor}"
    assert first["memory"] > 0
    assert first["pci_bus_id"] == devices[0].pci_bus_id


def test_no_context_is_created(run_python):
    code = """
from halfwarp.doctor.inside import run
from cuda.bindings import driver
assert run("backend").facts["devices"]
print(int(driver.cuCtxGetCurrent()[1]), driver.cuDevicePrimaryCtxGetState(0)[1:])
"""
    assert run_python(code).strip() == "0 (0, 0)"


def test_the_options_of_the_emulator_are_stated(monkeypatch):
    monkeypatch.setenv("HALFWARP_BACKEND", "emulator")
    monkeypatch.setenv("HALFWARP_EMULATOR_DEVICES", "3")
    facts = examine("backend").facts
    assert facts["backend"] == "emulator"
    assert facts["emulator"]["options"]["devices"] == "3"
    assert len(facts["devices"]) == 3


def test_an_error_of_cuinit_is_stated_by_name(monkeypatch):
    status = low.CUresult.CUDA_ERROR_SYSTEM_NOT_READY
    monkeypatch.setattr(low, "cuInit", lambda flags: (status,))
    facts = run("backend").facts
    assert facts["error_name"] == "CUDA_ERROR_SYSTEM_NOT_READY"
    assert facts["error"].startswith("cuInit returns CUDA_ERROR_SYSTEM_NOT_READY: ")
    assert "devices" not in facts


class TestDriver:
    @pytest.fixture
    def emulated_as_driver(self, tmp_path, monkeypatch):
        """Put the emulator on the search path as libcuda.so.1."""
        from cuda.core.emulation import library as emulator_library

        target = tmp_path / "libcuda.so.580.159.03"
        target.write_bytes(emulator_library.path().read_bytes())
        (tmp_path / "libcuda.so.1").symlink_to(target.name)
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
        return target

    def test_its_library_is_the_loaded_file(self, emulated_as_driver):
        findings = examine("driver")
        assert not findings.problems
        facts = findings.facts
        assert facts["library"] == str(emulated_as_driver)
        assert facts["release"] == "580.159.03"
        assert facts["version"] == facts["api_version"] == "13.5"
        assert facts["missing_functions"] == []
        assert facts["functions"] > 500

    @pytest.mark.skipif(driver.CONTROL_NODE.exists(), reason="there is a driver here")
    def test_a_missing_driver_is_reported_with_the_searched_folders(self):
        facts = examine("driver").facts
        assert not facts["is_found"]
        assert "libcuda.so.1" in facts["error"]
        assert "ldconfig" in facts["searched"][-1]

    @pytest.mark.parametrize(
        "text",
        [
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC\n",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n",
        ],
        ids=["closed", "open"],
    )
    def test_the_release_of_the_kernel_module_is_read(self, monkeypatch, tmp_path, text):
        path = tmp_path / "version"
        path.write_text(text + "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n")
        monkeypatch.setattr(driver, "KERNEL_MODULE", path)
        assert driver.kernel_module() == "580.95.05"
        path.write_text("something else")
        assert driver.kernel_module() is None

    @pytest.mark.parametrize(
        ("name", "release"),
        [("/x/libcuda.so.580.95.05", "580.95.05"), ("/x/libcuda.so.1", None), (None, None)],
    )
    def test_the_release_is_in_the_name_of_the_library(self, name, release):
        assert driver.release_of(name) == release


class TestLibraries:
    @pytest.mark.parametrize("name", libraries.present_here())
    def test_each_is_found_with_its_version_or_not_found(self, name):
        findings = run(f"libraries:{name}")
        assert not findings.problems
        facts = findings.facts
        if facts["is_found"]:
            assert facts["version"][0].isdigit()
            assert Path(facts["path"]).exists()
        else:
            assert facts["searched"]

    def test_a_version_equals_the_package(self):
        facts = run("libraries:nvrtc").facts
        if not facts["is_found"] or not facts["package_version"]:
            pytest.skip("NVRTC is not installed from a package")
        assert facts["package_version"].startswith(facts["version"] + ".")

    @pytest.mark.parametrize(("machine", "is_there"), [("aarch64", True), ("x86_64", False)])
    def test_cudla_exists_on_one_machine_only(self, monkeypatch, machine, is_there):
        monkeypatch.setattr("platform.machine", lambda: machine)
        assert ("cudla" in libraries.present_here()) is is_there

    def test_a_broken_library_is_a_problem(self, monkeypatch, tmp_path):
        import cuda.pathfinder

        def broken(name):
            raise OSError("invalid ELF header")

        monkeypatch.setattr(cuda.pathfinder, "load_nvidia_dynamic_lib", broken)
        (problem,) = run("libraries:nvvm").problems
        assert "invalid ELF header" in problem["what"]


class TestPlaces:
    def test_code_is_in_the_file_mapped_at_its_address(self):
        import ctypes

        address = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value
        assert "python" in places.mapped_file(address)

    def test_anonymous_addresses_have_no_file(self):
        assert places.mapped_file(8) is None

    def test_machines_without_a_list_of_mappings_are_supported(self, monkeypatch, tmp_path):
        monkeypatch.setattr(places, "MAPS", tmp_path / "maps")
        assert places.mapped_file(8) is None

    def test_folders_in_a_message_are_preserved(self, monkeypatch):
        monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
        error = RuntimeError('no x\n  listdir("/a/lib"):\n    y.so\n  listdir("/b"):\n')
        *folders, system = places.searched(error)
        assert folders == ["/a/lib", "/b"]
        assert system.startswith(f"LD_LIBRARY_PATH ({os.environ['LD_LIBRARY_PATH']})")
