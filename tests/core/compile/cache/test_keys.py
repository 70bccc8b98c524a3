# SPDX-License-Identifier: Apache-2.0
"""make_program_cache_key: what changes a key, what does not, and inputs without a key."""

import subprocess
import sys

import cuda.core._compile as compile_module
import pytest
from cuda.core import CUDAError, ProgramOptions
from cuda.core.compile.cache import fingerprints, keys
from cuda.core.typing import ObjectCodeFormatType, SourceCodeType
from cuda.core.utils import make_program_cache_key

ARCH = {"arch": "sm_80"}


def key(code="x", code_type="c++", target_type="ptx", options=None, **fields):
    option_names = ProgramOptions.__dataclass_fields__
    option_fields = {name: fields.pop(name) for name in list(fields) if name in option_names}
    return make_program_cache_key(
        code=code,
        code_type=code_type,
        options=options or ProgramOptions(**ARCH, **option_fields),
        target_type=target_type,
        **fields,
    )


def nvvm(**fields):
    return key(code_type="nvvm", **fields)


def ptx(**fields):
    return key(code_type="ptx", target_type="cubin", **fields)


class TestForm:
    def test_it_has_32_bytes_and_is_deterministic(self):
        assert type(key()) is bytes and len(key()) == 32 and key() == key()

    @pytest.mark.parametrize("size", [10, keys._SHORT, keys._SHORT + 1])
    def test_a_kept_digest_equals_a_new_one(self, size):
        first = key("x" * size, name_expressions=())
        assert key("x" * size) == first
        keys._kept_digest.cache_clear()
        assert key("x" * size) == first
        assert key("y" * size) != first
        assert keys._kept_digest.cache_info().currsize == (2 if size <= keys._SHORT else 0)

    def test_it_depends_on_the_version_of_the_compiler(self, monkeypatch):
        first = key()
        monkeypatch.setattr(keys, "_nvrtc_version", lambda: (11, 8))
        assert keys._compiler("c++") == "NVRTC (11, 8)" and key() != first

    def test_a_deleted_option_is_looked_up(self):
        options = ProgramOptions(arch="sm_80")
        assert not keys._has_suspects(options)
        options.include_path = "x"
        assert keys._has_suspects(options)
        del options.__dict__["include_path"]
        assert keys._has_suspects(options)

    def test_it_is_equal_in_another_process(self):
        program = (
            "from cuda.core.utils import make_program_cache_key as k\n"
            "from cuda.core import ProgramOptions as o\n"
            "print(k(code='x', code_type='c++', options=o(arch='sm_80', define_macro=['a', 'b']),"
            "target_type='ptx', name_expressions=('f', b'g')).hex())"
        )
        keys = {
            subprocess.run(
                [sys.executable, "-c", program],
                env={"PYTHONHASHSEED": seed, "HALFWARP_BACKEND": "emulator"},
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for seed in "12"
        }
        local_key = key(define_macro=["a", "b"], name_expressions=(b"g", "f"))
        assert keys == {local_key.hex()}

    @pytest.mark.parametrize("code_type", ["C++", SourceCodeType.CXX])
    @pytest.mark.parametrize("target", ["PTX", ObjectCodeFormatType.PTX])
    def test_types_are_accepted_in_any_case(self, code_type, target):
        assert key(code_type=code_type, target_type=target) == key()

    def test_options_may_be_a_dict(self):
        assert key(options=ARCH) == key()

    def test_other_options_are_refused(self):
        with pytest.raises(TypeError, match="object of type ProgramOptions or as a dict"):
            make_program_cache_key(code="", code_type="c++", options=None, target_type="ptx")

    def test_fields_are_unambiguous_in_the_hash(self):
        keys = [
            key(define_macro=["a", "b"]),
            key(define_macro=["a"], undefine_macro=["b"]),
            key(define_macro=["ab"]),
            key(name_expressions=("ab",)),
            key(name_expressions=("a", "b")),
            key(code="xa"),
            key(name="a"),
            key(extra_digest=b"a"),
        ]
        assert len(set(keys)) == len(keys)


class TestRelevantInputs:
    @pytest.mark.parametrize("target", ["ptx", "ltoir", "cubin"])
    def test_only_a_cubin_of_the_emulator_differs(self, monkeypatch, target):
        digests = []
        for is_emulated in (False, True):
            monkeypatch.setattr(keys._low, "is_emulated", lambda value=is_emulated: value)
            digests.append(key(target_type=target))
        assert (digests[0] == digests[1]) == (target != "cubin")

    @pytest.mark.parametrize(
        "fields",
        [
            {"code": "y"},
            {"code": ""},
            {"code": "x\n"},
            {"code": "x\r\n"},
            {"target_type": "cubin"},
            {"target_type": "ltoir"},
            {"options": ProgramOptions(arch="compute_80")},
            {"name": "other"},
            {"debug": True},
            {"std": "c++17"},
            {"no_cache": True},
            {"name_expressions": ("f",)},
            {"extra_digest": b""},
            {"extra_digest": b"1"},
        ],
        ids=str,
    )
    def test_a_relevant_field_changes_the_key(self, fields):
        assert key(**fields) != key()

    def test_compiler_headers_change_the_key(self, monkeypatch):
        monkeypatch.setattr(compile_module, "nvrtc_version", lambda: (13, 3))
        assert key(use_bundled_headers=True) != key()
        monkeypatch.setattr(compile_module, "nvrtc_version", lambda: (13, 2))
        with pytest.raises(RuntimeError, match=r"requires NVRTC >= 13\.3; found 13\.2"):
            key(use_bundled_headers=True)

    @pytest.mark.parametrize(
        "fields",
        [
            {"debug": False},
            {"name": None},
            {"include_path": []},
            {"pre_include": ()},
            {"pch": False},
            {"use_libdevice": True},
            {"name_expressions": []},
            {"extra_files": ()},
        ],
        ids=str,
    )
    def test_an_irrelevant_field_does_not_change_the_key(self, fields):
        assert key(**fields) == key()

    def test_expressions_count_in_any_order_but_with_their_type(self):
        assert key(name_expressions=("a", "b")) == key(name_expressions=["b", "a"])
        assert key(name_expressions=("a",)) != key(name_expressions=(b"a",))

    @pytest.mark.parametrize("source", [nvvm, ptx])
    def test_name_expressions_require_cpp(self, source):
        assert source(name_expressions=("a", 5)) == source()

    def test_text_and_bytes_of_nvvm_are_equal(self):
        assert nvvm(code="x") == nvvm(code=b"x") == nvvm(code=bytearray(b"x")) != nvvm(code="y")

    def test_further_sources_count_in_order(self):
        first, second = ("a", "1"), ("b", b"2")
        both = nvvm(extra_sources=[first, second])
        assert both == nvvm(extra_sources=[("a", b"1"), ("b", "2")])
        assert len({both, nvvm(extra_sources=[second, first]), nvvm()}) == 3
        assert nvvm(extra_sources=[]) == nvvm()

    def test_libdevice_requires_a_digest(self):
        assert nvvm(use_libdevice=False) == nvvm()
        assert nvvm(use_libdevice=True, extra_digest=b"1") != nvvm()
        with pytest.raises(ValueError, match="use_libdevice=True and no extra_digest"):
            nvvm(use_libdevice=True)


class TestPtx:
    @pytest.mark.parametrize(
        "fields",
        [
            {"debug": False},
            {"lineinfo": False},
            {"no_cache": False},
            {"link_time_optimization": False},
            {"ptxas_options": []},
            {"numba_debug": True},
            {"include_path": "a"},
            {"create_pch": "a"},
            {"std": "c++17"},
        ],
        ids=str,
    )
    def test_options_that_do_not_reach_the_linker_are_irrelevant(self, fields):
        assert ptx(**fields) == ptx()

    @pytest.mark.parametrize(
        "fields",
        [
            {"debug": True},
            {"time": "a"},
            {"max_register_count": 0},
            {"split_compile": 0},
            {"ptxas_options": "-v"},
            {"fma": False},
            {"ftz": True},
            {"name": "a/b"},
        ],
        ids=str,
    )
    def test_options_that_reach_the_linker_are_relevant(self, fields):
        assert ptx(**fields) != ptx()

    def test_equivalent_values_give_equal_keys(self):
        assert ptx(time="a") == ptx(time="b")
        assert ptx(ptxas_options="-v") == ptx(ptxas_options=["-v"]) == ptx(ptxas_options=("-v",))
        assert ptx(ptxas_options=["a", "b"]) != ptx(ptxas_options=["b", "a"])
        assert ptx(ftz=True) == ptx(ftz=1) and ptx(fma=True) != ptx(fma=False)

    def test_options_of_the_driver_linker_are_relevant(self, monkeypatch):
        from cuda.core import _linker

        monkeypatch.setattr(_linker, "_decide_nvjitlink_or_driver", lambda: True)
        monkeypatch.setattr("cuda.core._utils.version.driver_version", lambda: (13, 0, 0))
        older = ptx()
        for name in ("ftz", "fma", "prec_div", "prec_sqrt"):
            assert ptx(**{name: True}) == older
        for name, value in (("time", "a"), ("ptxas_options", []), ("split_compile", 1)):
            with pytest.raises(ValueError, match=f"does not support these options: {name}"):
                ptx(**{name: value})
        monkeypatch.setattr("cuda.core._utils.version.driver_version", lambda: (13, 1, 0))
        assert ptx() != older


class TestRefusals:
    @pytest.mark.parametrize("field", ["create_pch", "time", "fdevice_time_trace"])
    @pytest.mark.parametrize("digest", [None, b"1"])
    def test_options_with_side_effects_have_no_key(self, field, digest):
        with pytest.raises(ValueError, match=rf"side effects \({field}\)"):
            key(**{field: ""}, extra_digest=digest)

    @pytest.mark.parametrize(
        "fields",
        [
            {"include_path": "a"},
            {"include_path": ["a"]},
            {"include_path": ""},
            {"pre_include": "a"},
            {"pch": True},
            {"use_pch": "a"},
            {"pch_dir": ""},
        ],
        ids=str,
    )
    def test_files_read_by_the_compiler_require_a_digest(self, fields, tmp_path):
        with pytest.raises(ValueError, match=rf"\({next(iter(fields))}\) without an extra_digest"):
            key(**fields)
        (tmp_path / "a.h").write_text("1")
        assert len(
            {key(**fields, extra_digest=b"1"), key(**fields, extra_files=[tmp_path / "a.h"])}
        )

    @pytest.mark.parametrize("name", ["a/b", "a\\b"])
    def test_a_folder_in_the_name_requires_a_digest(self, name):
        with pytest.raises(ValueError, match="directory component"):
            key(name=name)
        assert key(name=name, extra_digest=b"1") != key(extra_digest=b"1")

    @pytest.mark.parametrize("source", [key, ptx])
    def test_further_sources_require_nvvm(self, source):
        with pytest.raises(ValueError, match="extra_sources is only valid for code_type='nvvm'"):
            source(extra_sources=[("a", "b")])

    def test_options_unknown_to_nvvm_are_refused(self):
        with pytest.raises(CUDAError, match="not supported by NVVM backend: std"):
            nvvm(std="c++17")

    @pytest.mark.parametrize(
        ("fields", "error", "message"),
        [
            ({"code_type": "fortran"}, ValueError, "'fortran' is not a valid SourceCodeType"),
            ({"code_type": 5}, ValueError, "5 is not a valid SourceCodeType"),
            ({"target_type": "fatbin"}, ValueError, "not supported by the program cache"),
            ({"target_type": None}, ValueError, "not supported by the program cache"),
            ({"code_type": "nvvm", "target_type": "cubin"}, ValueError, r"supported: \['ltoir'"),
            ({"code_type": "ptx", "target_type": "ltoir"}, ValueError, r"supported: \['cubin'"),
            ({"code": b"x"}, TypeError, "code must be str for code_type='c\\+\\+'"),
            ({"code": b"x", "code_type": "ptx"}, TypeError, "code must be str"),
            ({"code": 5}, TypeError, "code must be str or bytes, got int"),
            ({"name_expressions": "ab"}, TypeError, r"write \('ab',\)"),
            ({"name_expressions": [bytearray(b"a")]}, TypeError, "got bytearray"),
            ({"name_expressions": [5]}, TypeError, "elements must be str or bytes; got int"),
            ({"name_expressions": 5}, TypeError, "tuple or list of str or bytes, got int"),
            ({"extra_digest": "text"}, TypeError, "extra_digest must be bytes, got str"),
            ({"extra_digest": 5}, TypeError, "extra_digest must be bytes, got int"),
            ({"extra_files": "a.h"}, TypeError, r"write \('a.h',\)"),
        ],
        ids=str,
    )
    def test_errors_name_the_cause(self, fields, error, message):
        with pytest.raises(error, match=message):
            key(**fields)


class TestExtraFiles:
    def test_contents_names_and_order_count_but_not_the_folder(self, tmp_path):
        for folder in "pq":
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "a.h").write_text("1")
            (tmp_path / folder / "b.h").write_text("1")
        a, b, same = tmp_path / "p/a.h", tmp_path / "p/b.h", tmp_path / "q/a.h"
        assert key(extra_files=[a]) == key(extra_files=(str(same),))
        keys = [key(), key(extra_files=[a]), key(extra_files=[b]), key(extra_files=[a, b])]
        assert len({*keys, key(extra_files=[b, a])}) == 5
        a.write_text("2")
        assert key(extra_files=[a]) not in keys

    def test_a_missing_file_is_an_error(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            key(extra_files=[tmp_path / "none.h"])


class TestFingerprint:
    @pytest.mark.parametrize(
        ("source", "name", "version"),
        [
            (key, "_nvrtc_version", lambda: (1, 2)),
            (nvvm, "_nvvm_fingerprint", lambda: "lib=1.2"),
            (ptx, "_linker_backend_and_version", lambda use_driver: ("nvJitLink", "1.2")),
        ],
    )
    def test_another_compiler_version_changes_the_key(self, source, name, version, monkeypatch):
        before = source()
        monkeypatch.setattr(keys, name, version)
        assert source() != before

    def test_another_schema_changes_the_key(self, monkeypatch):
        before = key()
        monkeypatch.setattr(keys, "_KEY_SCHEMA_VERSION", keys._KEY_SCHEMA_VERSION + 1)
        assert key() != before

    @pytest.mark.parametrize("query", ["nvrtc_version", "nvvm_fingerprint"])
    def test_it_is_queried_once(self, query):
        function = getattr(fingerprints, query)
        misses = function.cache_info().misses
        assert function() == function()
        assert function.cache_info().misses <= max(misses, 1)

    def test_a_failing_version_query_gives_a_distinct_key(self, monkeypatch):
        good = key()

        def fail(error):
            def query():
                raise error("no library")

            monkeypatch.setattr(keys, "_nvrtc_version", query)
            return key()

        assert fail(RuntimeError) == fail(RuntimeError)
        assert len({good, fail(RuntimeError), fail(OSError)}) == 3


def test_hashes_equal_those_of_hashlib_before_and_after_it_is_imported():
    program = (
        "import sys; from cuda.core.compile.cache.sha256 import sha256; "
        "first = sha256(b'a').hexdigest(); early = 'hashlib' in sys.modules; "
        "large = sha256(bytes(10**6)).hexdigest(); import hashlib; "
        "assert first == hashlib.sha256(b'a').hexdigest() and not early; "
        "assert large == hashlib.sha256(bytes(10**6)).hexdigest()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
