# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton are registered with their PTX, without the package."""

import pytest

from halfwarp.coverage import triton_lines


class Emulator:
    """Records the registered cubins."""

    def __init__(self):
        self.registered = []

    def halfwarp_emulator_register_cubin(self, *arguments):
        self.registered.append(arguments)


class Module:
    """A compiler whose kernels have given results."""

    def __init__(self):
        class CompiledKernel:
            def __init__(self, asm, *, name="k"):
                self.asm, self.name = asm, name

        self.CompiledKernel = CompiledKernel


@pytest.fixture
def patched():
    emulator, module = Emulator(), Module()
    for _ in range(2):  # the second time changes nothing
        triton_lines._patch_compiler(emulator, module)
    return emulator, module.CompiledKernel


def test_a_cubin_is_registered_once_with_its_ptx(patched):
    emulator, kernel = patched
    assert kernel({"cubin": b"\x7fELF", "ptx": ".version 8.0"}, name="f").name == "f"
    assert emulator.registered == [(b"\x7fELF", 4, b".version 8.0")]


@pytest.mark.parametrize(
    "asm",
    [{}, {"cubin": b"a"}, {"ptx": "b"}, {"cubin": b"a", "ptx": b"b"}, {"cubin": "a", "ptx": "b"}],
)
def test_a_kernel_of_another_target_is_not_registered(patched, asm):
    emulator, kernel = patched
    kernel(asm)
    assert emulator.registered == []
