# SPDX-License-Identifier: Apache-2.0
"""Releases: the same files give the same bytes, and problems of a wheel are found."""

import csv
import gzip
import io
import json
import os
import platform
import shutil
import subprocess
import sysconfig
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from build_support.wheels import build, check, normal, sbom, trial

ROOT = Path(__file__).resolve().parents[2]
EPOCH = 1_700_000_000
TAG = "manylinux_2_28_x86_64"
INFO = "halfwarp-0.1.0.dist-info"
METADATA = """Metadata-Version: 2.4
Name: halfwarp
Version: 0.1.0
Author: the halfwarp authors
Keywords: CUDA
Summary: An implementation
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Requires-Python: >=3.11
""" + "".join(f"Provides-Extra: {extra}\n" for extra in sorted(check.EXTRAS))
SOUND = {
    "cuda/core/__init__.py": b"",
    "halfwarp/__init__.py": b"__version__ = '0.1.0'\n",
    f"{INFO}/METADATA": METADATA.encode(),
    f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nTag: cp311-cp311-{TAG}\n".encode(),
    f"{INFO}/RECORD": b"",
    f"{INFO}/licenses/LICENSE": b"the license",
    f"{INFO}/licenses/NOTICE": b"linked with libcudart_static.a",
    f"{INFO}/{sbom.NAME}": sbom.text(METADATA, ROOT / "pyproject.toml"),
}


def written_wheel(folder, files=SOUND, platform=TAG):
    path = folder / f"halfwarp-0.1.0-cp311-cp311-{platform}.whl"
    normal.write_wheel(path, files, EPOCH)
    return path


def problems(folder, files):
    pytest.importorskip("elftools", reason="auditwheel is not installed")
    return list(check.problems(written_wheel(folder, files), ROOT))


def test_the_list_of_contents_names_what_is_not_ours():
    document = json.loads(sbom.text(METADATA, ROOT / "pyproject.toml"))
    assert document["metadata"]["component"]["purl"] == "pkg:pypi/halfwarp@0.1.0"
    named = {each["name"]: each["version"] for each in document["components"]}
    assert named == {"nvidia-cuda-runtime": "13.5.*", "Cython": ">=3.3,<3.4"}


def test_a_list_of_contents_is_added_to_a_wheel(tmp_path):
    name = f"{INFO}/{sbom.NAME}"
    without = {key: data for key, data in SOUND.items() if key != name}
    assert sbom.added(without, ROOT / "pyproject.toml") == SOUND
    assert any(sbom.NAME in each for each in problems(tmp_path, without))


def test_the_order_of_files_does_not_matter(tmp_path):
    turned = dict(reversed(SOUND.items()))
    (tmp_path / "turned").mkdir()
    assert (
        written_wheel(tmp_path).read_bytes()
        == written_wheel(tmp_path / "turned", turned).read_bytes()
    )


def test_a_wheel_is_read_as_it_was_written(tmp_path):
    files = normal.read_wheel(written_wheel(tmp_path))
    assert {n: d for n, d in files.items() if not n.endswith("/RECORD")} == {
        name: data for name, data in SOUND.items() if not name.endswith("/RECORD")
    }


def test_the_record_lists_every_file_with_its_digest(tmp_path):
    files = normal.read_wheel(written_wheel(tmp_path))
    rows = list(csv.reader(io.StringIO(files[f"{INFO}/RECORD"].decode())))
    assert {row[0] for row in rows} == set(SOUND)
    for name, digest, size in rows[:-1]:
        assert (digest, int(size)) == (normal.hash_of(SOUND[name]), len(SOUND[name]))
    assert rows[-1] == [f"{INFO}/RECORD", "", ""]


def test_the_digest_equals_the_specification():
    """The digest of no data, as in FIPS 180-4 and RFC 4648."""
    assert normal.hash_of(b"") == "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"


def test_all_times_equal_the_requested_time(tmp_path):
    with zipfile.ZipFile(written_wheel(tmp_path)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_a_time_before_zip_archives_is_replaced_by_their_first(tmp_path):
    path = tmp_path / "early-1-py3-none-any.whl"
    normal.write_wheel(path, SOUND, 0)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].date_time[:3] == (1980, 1, 1)


def test_a_release_is_compressed_more_and_reads_the_same(tmp_path):
    data = b"".join(path.read_bytes() for path in sorted(ROOT.glob("build_support/*.py")))
    small, usual = normal.squeezed(data), normal.deflated(data)
    assert zlib.decompress(small, -zlib.MAX_WBITS) == data
    assert len(small) < len(usual) or (normal.zopfli is None and small == usual)
    path = tmp_path / "release-1-py3-none-any.whl"
    files = {**SOUND, "halfwarp/text.py": data}
    normal.write_wheel(path, files, EPOCH, normal.squeeze_all)
    assert normal.read_wheel(path)["halfwarp/text.py"] == data
    assert path.stat().st_size < len(data)


def packed(path, names, mtime):
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            entry = tarfile.TarInfo(f"halfwarp-0.1.0/{name}")
            entry.size, entry.mtime, entry.uname = len(name), mtime, str(mtime)
            entry.mode = 0o775 if name == "run" else 0o660
            archive.addfile(entry, io.BytesIO(name.encode()))
    normal.rewrite_sdist(path, EPOCH)
    return path.read_bytes()


def test_an_sdist_depends_on_its_files_only(tmp_path):
    one = packed(tmp_path / "one.tar.gz", ["run", "setup.py"], 1)
    assert one == packed(tmp_path / "two.tar.gz", ["setup.py", "run"], 2)
    with tarfile.open(fileobj=io.BytesIO(one)) as archive:
        modes = {entry.name.rpartition("/")[2]: entry.mode for entry in archive}
        assert archive.extractfile("halfwarp-0.1.0/setup.py").read() == b"setup.py"
    assert modes == {"run": 0o755, "setup.py": 0o644}
    assert gzip.decompress(one)


def test_a_valid_wheel_has_no_problem(tmp_path):
    assert problems(tmp_path, SOUND) == []


PLANTED = [
    ("other/__init__.py", b"", "in neither of the two packages"),
    ("cuda/core/_core.pyx", b"", "of an unexpected file type"),
    ("cuda/__init__.py", b"", "the namespace is shared"),
    ("cuda/core/place.py", str(ROOT).encode(), "the path of the folder that it was built in"),
    ("cuda/core/large.py", os.urandom(5 << 20), "wheel: 5,"),
    ("cuda/core/large.py", bytes(14 << 20), "installed: 14,"),
    (f"{INFO}/WHEEL", b"Tag: cp311-cp311-linux_x86_64\n", "its metadata has the tags linux_x86_64"),
    (f"{INFO}/METADATA", METADATA.replace("Author", "Nobody").encode(), "no Author"),
    (f"{INFO}/METADATA", METADATA.replace("cu12", "cu11").encode(), "no extra cu12"),
    (f"{INFO}/licenses/more", b"", "license files"),
    (f"{INFO}/licenses/NOTICE", b"nothing", "says nothing of libcudart_static.a"),
]


@pytest.mark.parametrize(("name", "data", "expected"), PLANTED, ids=[p[2][:20] for p in PLANTED])
def test_a_problem_is_found(tmp_path, name, data, expected):
    (wrong,) = problems(tmp_path, {**SOUND, name: data})
    assert expected in wrong


def test_an_unrepaired_wheel_is_found(tmp_path):
    pytest.importorskip("elftools", reason="auditwheel is not installed")
    wrong = list(check.problems(written_wheel(tmp_path, platform="linux_x86_64"), ROOT))
    assert "not repaired" in wrong[0]


def test_libraries_that_a_system_may_lack_are_found():
    """Reads the dynamic section of one of our extensions, and of one that needs another library."""
    pytest.importorskip("elftools", reason="auditwheel is not installed")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    data = (ROOT / "cuda" / "bindings" / f"_low{suffix}").read_bytes()
    needed = {library for library, _ in check.dynamic_section(data)}
    assert any(library.startswith("libc.so") for library in needed)
    assert list(check.wrong_objects({"cuda/bindings/_low.so": data})) == []
    other = data.replace(b"libc.so.6\0", b"libz.so.6\0")
    assert list(check.wrong_objects({"a.so": other})) == ["a.so: needs libz.so.6"]
    assert list(check.wrong_objects({"a.so": data + b".debug_info"})) == ["a.so: has debug data"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "void lost(void); void PyNone(void); void f(void) { lost(); PyNone(); }",
            "a.so: needs lost, which was in no library that it was linked with",
        ),
        ("void _ZN1a1bEv(void) {}", "a.so: exports _ZN1a1bEv, which is a name of C++"),
    ],
    ids=["in no library", "of C++"],
)
def test_wrong_names_are_found(tmp_path, text, problem):
    """Python's own names are in no library."""
    pytest.importorskip("elftools", reason="auditwheel is not installed")
    if not shutil.which("gcc"):
        pytest.skip("needs gcc")
    assert list(check.wrong_objects({"a.so": linked(tmp_path, "a", text)})) == [problem]


def test_a_library_of_the_wheel_may_need_another_one(tmp_path):
    pytest.importorskip("elftools", reason="auditwheel is not installed")
    if not shutil.which("gcc"):
        pytest.skip("needs gcc")
    inner = linked(tmp_path, "inner", "void known(void) {}", "-Wl,-soname,libinner.so.3")
    text = "void known(void); void lost(void); void f(void) { known(); lost(); }"
    outer = linked(tmp_path, "outer", text, tmp_path / "inner.so")
    assert list(check.wrong_objects({"outer.so": outer, "inner.so": inner})) == [
        "outer.so: needs lost, which was in no library that it was linked with"
    ]
    assert next(check.wrong_objects({"outer.so": outer})) == "outer.so: needs libinner.so.3"


def linked(folder, name, text, *options):
    source, to = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    subprocess.run(["gcc", "-shared", "-fPIC", source, *options, "-o", to], check=True)
    return to.read_bytes()


@pytest.mark.parametrize("platform", ["", TAG])
def test_no_library_of_the_system_replaces_one_of_the_package(platform, tmp_path):
    """The runtime of CUDA 12 needs the name of NVIDIA's runtime, which is the package's own."""
    repair = build.Builder(tmp_path, tmp_path, EPOCH, platform=platform).repair()
    assert [each for each in repair if "exclude" in each] == ["--exclude=libcudart.so.13"]


@pytest.mark.parametrize("stem", ["core/_core", "core/_views", "bindings/libcuda_emulated"])
def test_extensions_export_no_cpp_symbols(stem):
    """Not even of C++ library templates: another library may have another copy."""
    pytest.importorskip("elftools", reason="auditwheel is not installed")
    suffix = ".so" if stem.endswith("emulated") else sysconfig.get_config_var("EXT_SUFFIX")
    names = list(check.exported((ROOT / "cuda" / f"{stem}{suffix}").read_bytes()))
    assert names
    assert [name for name in names if name.startswith("_Z")] == []


def test_only_a_requested_platform_changes_the_linking(tmp_path, monkeypatch):
    monkeypatch.setenv("LDFLAGS", "-Wl,-O1")
    monkeypatch.setattr(build.libraries, "allowed_by", lambda platform: {platform})
    monkeypatch.setattr(build.libraries, "write", lambda folder, *_: [f"-L{folder}"])
    assert build.Builder(tmp_path, tmp_path, EPOCH).linking() == {}
    flags = build.Builder(tmp_path, tmp_path, EPOCH, platform=TAG).linking()
    assert flags == {"LDFLAGS": f"-L{tmp_path}/build/{TAG} -Wl,-O1"}


@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_auditwheel_knows_the_platforms_of_each_processor(tmp_path, processor):
    """The error is about the missing wheel, not about the platform."""
    pytest.importorskip("auditwheel")
    repair = build.Builder(
        tmp_path, tmp_path, EPOCH, platform=f"manylinux_2_28_{processor}"
    ).repair()
    done = subprocess.run([*repair, "nowhere.whl"], capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1].rpartition("error: ")[2]) == (
        2,
        "cannot access nowhere.whl. No such file",
    )


def test_the_license_of_linked_code_is_added(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "license_of_linked", lambda: b"its license")
    files = build.with_license(SOUND)
    assert files[f"{INFO}/licenses/nvidia-cuda-runtime/License.txt"] == b"its license"
    assert problems(tmp_path, files) == []


def test_a_missing_license_ends_the_build(monkeypatch):
    monkeypatch.setattr(build, "LINKED", "no-such-package-as-this")
    with pytest.raises(SystemExit, match="pip install no-such-package-as-this"):
        build.license_of_linked()


def test_the_time_comes_from_the_variable_or_the_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "42")
    assert normal.epoch_of(ROOT) == 42
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert normal.epoch_of(tmp_path) == normal.EARLIEST


def interpreter(folder, processor):
    """Write a script that reports its processor and creates an environment without an
    interpreter."""
    path = folder / "python"
    make = 'mkdir -p "$4/bin"; ln -s /dev/null "$4/bin/python"'
    path.write_text(f"#!/bin/sh\ncase $1 in -c) echo {processor} ;; *) {make} ;; esac\n")
    path.chmod(0o755)
    return path


def test_an_environment_of_another_processor_is_emulated(tmp_path):
    """This machine's kernel cannot run a program in it."""
    python = interpreter(tmp_path, "vax")
    inside = trial.empty_environment(python, tmp_path / "of a vax")
    assert not inside.is_symlink() and inside.read_text() == python.read_text()


def test_an_environment_of_this_processor_is_unchanged(tmp_path):
    python = interpreter(tmp_path, platform.machine())
    inside = trial.empty_environment(python, tmp_path / "of this machine")
    assert inside.readlink() == Path("/dev/null")


def test_the_second_build_has_other_settings(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "setup.py").write_text("")
    sdist = tmp_path / "tree.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        archive.add(tmp_path / "tree", "tree")
    first = build.Builder(tmp_path / "tree", tmp_path, EPOCH, platform=TAG)
    second = first.elsewhere(sdist, tmp_path)
    shown = [each.run("sh", "-c", "echo $TZ-$LC_ALL-$HOME; umask; pwd") for each in (first, second)]
    for one, other in zip(*(text.split() for text in shown), strict=True):
        assert one != other
    assert shown[1].split()[1] == "0077"
    assert (second.epoch, second.platform) == (EPOCH, TAG)
