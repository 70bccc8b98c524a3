# SPDX-License-Identifier: Apache-2.0
"""Tile IR: NVRTC options, the target, loading; only the last test requires a driver."""

import functools
import pickle

import pytest
from cuda.bindings import nvrtc
from cuda.core import CUDAError, Linker, NVRTCError, ObjectCode, Program, ProgramOptions
from cuda.core.utils import InMemoryProgramCache

SOURCE = """
__device__ int one() { return 1; }
__tile_global__ void tiles(int* p) { *p = 1; }
extern "C" __global__ void lanes(int* p) { *p = one(); }
"""
UNMARKED = "int one() { return 1; }\n__tile_global__ void tiles(int* p) { *p = one(); }"
MAGIC = b"\x7fTileIR\0"


def make(code=SOURCE, **options):
    return Program(code, "c++", ProgramOptions(arch="sm_100", **options))


@functools.cache
def refusal():
    """The compiler's message where it is too old for tiles, otherwise empty."""
    try:
        make("", enable_tile=True).compile("ptx")
    except NVRTCError as error:
        return str(error)
    return ""


@pytest.fixture
def tiles():
    if refusal():
        pytest.skip("NVRTC {}.{} has no tiles".format(*nvrtc.nvrtcVersion()[1:]))


def test_a_compiler_without_tiles_is_reported():
    version = nvrtc.nvrtcVersion()[1:]
    if refusal():
        assert version < (13, 3)
        assert "NVRTC {}.{} rejects an option".format(*version) in refusal()
        assert "--enable-tile" in refusal()
    else:
        assert version >= (13, 1)


@pytest.mark.usefixtures("tiles")
@pytest.mark.parametrize("options", [{}, {"enable_tile": True}, {"tile_only": True}])
def test_the_target_requires_no_option(options):
    code = make(**options).compile("TILE_IR")
    assert code.code.startswith(MAGIC) and code.code_type == "tile_ir"


@pytest.mark.usefixtures("tiles")
def test_the_other_targets_hold_the_rest_of_the_source():
    program = make(enable_tile=True)
    ptx = program.compile("ptx").code
    assert b"lanes" in ptx and b"tiles" not in ptx
    assert program.compile("tile_ir").code.startswith(MAGIC)


@pytest.mark.usefixtures("tiles")
def test_a_source_of_tiles_only_gives_no_other_code():
    with pytest.raises(RuntimeError, match="NVRTC generated no cubin"):
        make(tile_only=True).compile("cubin")


@pytest.mark.usefixtures("tiles")
def test_options_without_tile_code_are_reported():
    with pytest.raises(RuntimeError, match="no tile_ir: simt_only=True excludes it"):
        make(simt_only=True).compile("tile_ir")


@pytest.mark.usefixtures("tiles")
def test_default_tile_applies_to_unmarked_functions():
    assert make(UNMARKED, default_tile=True).compile("tile_ir").code.startswith(MAGIC)
    with pytest.raises(CUDAError, match="without execution space annotations"):
        make(UNMARKED).compile("tile_ir")


@pytest.mark.usefixtures("tiles")
def test_name_expressions_match_tile_kernels():
    code = make().compile("tile_ir", ("tiles",))
    assert code.symbol_mapping == {"tiles": b"_Z5tilesPi"}


@pytest.mark.usefixtures("tiles")
def test_a_cache_stores_it():
    cache = InMemoryProgramCache()
    first, second = (make().compile("tile_ir", cache=cache) for _ in range(2))
    assert first.code == second.code and cache.stats()["hits"] == 1


@pytest.mark.parametrize(
    ("code", "code_type"),
    [(".version 8.0\n.target sm_90\n.address_size 64", "ptx"), ("; IR", "nvvm")],
)
def test_ptx_and_nvvm_have_no_such_target(code, code_type):
    program = Program(code, code_type, ProgramOptions(arch="sm_90"))
    with pytest.raises(ValueError, match='Unsupported target_type="tile_ir"'):
        program.compile("tile_ir")


def test_it_is_no_linker_input():
    with pytest.raises(ValueError, match="Unknown code_type associated with ObjectCode: 'tile_ir'"):
        Linker(ObjectCode.from_tile_ir(MAGIC), options={"arch": "sm_90"})


def test_it_is_no_source():
    with pytest.raises(RuntimeError, match="Unsupported code_type='tile_ir'"):
        Program(MAGIC, "tile_ir", ProgramOptions(arch="sm_90"))


def test_it_can_be_pickled(tmp_path):
    code = pickle.loads(pickle.dumps(ObjectCode.from_tile_ir(MAGIC, name="mine")))
    assert (code.code, code.code_type, code.name) == (MAGIC, "tile_ir", "mine")
    (tmp_path / "code.tileir").write_bytes(MAGIC)
    assert ObjectCode.from_tile_ir(tmp_path / "code.tileir").code.endswith("code.tileir")


def test_a_driver_that_cannot_load_it_is_explained(device):
    code = ObjectCode.from_tile_ir(MAGIC + b"damaged")
    with pytest.raises(CUDAError) as caught:
        code.get_kernel("tiles")
    assert any("CUDA 13.1 or newer" in note for note in caught.value.__notes__)
