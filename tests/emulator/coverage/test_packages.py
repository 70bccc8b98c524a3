# SPDX-License-Identifier: Apache-2.0
"""Patched imports of modules, and the patches of Numba and Triton, without the packages."""

import importlib
import sys
from types import ModuleType, SimpleNamespace

import pytest

from halfwarp.coverage import imports, numba_lines, triton_lines

from .test_numba_marks import IR, Compiles


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module that nothing has imported."""
    monkeypatch.setattr(imports, "_patches", {})
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()

    def module(name):
        (tmp_path / f"{name}.py").write_text("value = 1\n")
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    yield module
    for name in ("patched_later", "patched_twice", "not_patched"):
        sys.modules.pop(name, None)


def double(module):
    module.value *= 2


def test_a_module_is_patched_after_its_import(module):
    for name in ("patched_later", "patched_twice"):
        imports.patch(module(name), double)
    finders = [each for each in sys.meta_path if isinstance(each, imports._Finder)]
    assert len(finders) == 1
    assert sys.meta_path[0] is finders[0]
    assert importlib.import_module("patched_later").value == 2
    assert importlib.import_module(module("not_patched")).value == 1
    assert importlib.reload(sys.modules["patched_later"]).value == 1  # once


def test_an_imported_module_is_patched_now(module):
    loaded = importlib.import_module(module("patched_later"))
    imports.patch("patched_later", double)
    assert loaded.value == 2
    assert imports._patches == {}


def test_a_module_that_does_not_exist_is_not_found(module):
    imports.patch("no_such_module_here", double)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_module_here")


def test_the_compiler_is_asked_for_lines_unless_it_debugs(monkeypatch):
    config = SimpleNamespace(CACHE_DIR="")
    monkeypatch.setitem(sys.modules, "numba.core.config", config)
    calls = []
    compiler = ModuleType("compiler")
    compiler.compile_cuda = lambda *arguments, **options: calls.append((arguments, options))
    for _ in range(2):
        numba_lines._patch_compiler(compiler)
    compiler.compile_cuda(1, fastmath=True)
    compiler.compile_cuda(2, debug=True)
    assert calls == [
        ((1,), {"debug": False, "fastmath": True, "lineinfo": True}),
        ((2,), {"debug": True}),
    ]
    assert "halfwarp-coverage-" in config.CACHE_DIR


class Nvvm:
    """Records what it compiles; the PTX of text with marks may round differently."""

    def __init__(self, rounds=("add.f32", "add.f32")):
        self.calls, self.rounds = [], rounds
        numba_lines._patch_nvvm(self)
        numba_lines._patch_nvvm(self)

    def compile_ir(self, ir, **options):
        self.calls.append((ir, options))
        text = ir if isinstance(ir, str) else "".join(ir)
        return self.rounds["halfwarp_mark" not in text].encode()


@pytest.fixture
def compiles(monkeypatch):
    compiles = Compiles()
    monkeypatch.setattr(numba_lines, "_compiles", compiles)
    return compiles


@pytest.mark.parametrize("texts", [IR, [IR], (IR, "; empty")])
def test_marked_ir_is_compiled_if_it_rounds_alike(compiles, texts):
    nvvm = Nvvm()
    nvvm.compile_ir(texts, **{"gen-lto": None, "opt": 3})
    texts = [texts] if texts is IR else list(texts)
    marked = nvvm.calls[0][0]
    assert len(nvvm.calls) == 3
    assert nvvm.calls[1] == (texts, {"opt": 3})
    assert nvvm.calls[2] == (marked, {"gen-lto": None, "opt": 3})
    assert "halfwarp_mark" in marked[0]
    assert marked[1:] == texts[1:]


def test_ir_that_rounds_differently_with_marks_is_kept(compiles):
    nvvm = Nvvm(("fma.rn.f32 a", "mul.f32 a"))
    nvvm.compile_ir(IR)
    assert nvvm.calls[-1] == (IR, {})


def test_ir_for_a_debugger_or_without_measured_lines_is_compiled_once(compiles):
    nvvm = Nvvm()
    nvvm.compile_ir(IR, g=None)
    nvvm.compile_ir("; nothing")
    assert nvvm.calls == [(IR, {"g": None}), ("; nothing", {})]


def test_a_request_patches_what_will_be_imported(monkeypatch):
    patched = []
    monkeypatch.setattr(numba_lines, "patch", lambda name, function: patched.append(name))
    monkeypatch.setattr(numba_lines, "_compiles", None)
    numba_lines.request("the record")
    assert numba_lines._compiles == "the record"
    assert patched == ["numba.cuda.compiler", "numba.cuda.cudadrv.nvvm"]
    monkeypatch.setitem(sys.modules, "numba.cuda.dispatcher", ModuleType("dispatcher"))
    numba_lines.request("again")
    assert patched[-1] == "numba.cuda.dispatcher"


# ---- Triton
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
