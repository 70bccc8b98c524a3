# SPDX-License-Identifier: Apache-2.0
"""Contents of the wheel, and that it works without the source tree."""

import collections
import configparser
import email
import json
import re
import subprocess
import sys
import zipfile
from pathlib import PurePath

import pytest

from build_support.wheels.check import KINDS, LIMITS
from generator import libraries
from halfwarp.archive import read as copies_in

MEGABYTE = 1 << 20
LIBRARIES = libraries.library_names()
EXTENSIONS = {"bindings/_low", "bindings/_runtime"}
EXTENSIONS |= {"core/_core", "core/_compile", "core/_views", "core/_located_memory"}
EXTENSIONS |= {"core/_resources"}
EXTENSIONS |= {f"bindings/cy{library}" for library in LIBRARIES}
EMULATED = {f"bindings/lib{name}_emulated" for name in ("cuda", "cudart", "nvml", "nccl")}
EMULATED |= {"bindings/libcudart12_emulated"}
EMULATED |= {"bindings/libcuda_preload"}
OLD = "cuda.py cudart.py nvrtc.py __init__.pxd ccuda.pxd ccudart.pxd cnvrtc.pxd"
MODULES = {f"bindings/{library}" for library in LIBRARIES} | {"core/__init__"}
CIMPORTED = {f"bindings/{prefix}{library}" for library in LIBRARIES for prefix in ("", "cy")}
CIMPORTED |= {"core/__init__", "core/_core", "core/capi", "core/_stream", "core/_event"}
CIMPORTED |= {"core/_context", "core/_launch_config", "core/_memory", "core/_module"}


@pytest.fixture(scope="session")
def archive(wheel):
    with zipfile.ZipFile(wheel) as archive:
        yield archive


@pytest.fixture(scope="session")
def files(archive):
    return {PurePath(info.filename): info for info in archive.infolist()}


def read(archive, files, name):
    (path,) = (path for path in files if path.parts[0].endswith(".dist-info") and path.name == name)
    return archive.read(str(path)).decode()


def test_all_extensions_are_included(files):
    built = {str(path).split(".")[0] for path in files if path.suffix == ".so"}
    assert built == {f"cuda/{name}" for name in EXTENSIONS | EMULATED}


def test_type_checkers_and_cython_find_their_files(files):
    expected = {f"cuda/{name}.pyi" for name in MODULES}
    expected |= {f"cuda/{name}.pxd" for name in CIMPORTED}
    expected |= {"cuda/bindings/py.typed", "cuda/core/py.typed"}
    expected |= {
        "cuda/core/_include/python/objects.hpp",
        "cuda/core/_include/driver/driver_table.hpp",
    }
    assert expected <= {str(path) for path in files}


def test_no_file_lies_outside_the_packages_but_the_paths_of_12_x(files):
    places = {path.parts[:2] for path in files if not path.parts[0].endswith(".dist-info")}
    own = {place for place in places if place[0] == "halfwarp"}
    assert places - own == {("cuda", name) for name in ("bindings", "core", *OLD.split())}
    assert own


def test_it_contains_copies_of_files_that_others_may_overwrite(archive, files, tmp_path):
    archive.extract("halfwarp/files.tar.xz", tmp_path)
    copies = copies_in(tmp_path)
    expected = {str(path) for path in files if path.parts[0] == "cuda" and may_be_overwritten(path)}
    assert set(copies) == expected
    assert {"cuda/core/__init__.py", "cuda/bindings/cydriver.pxd"} <= expected
    assert [name for name in copies if copies[name] != archive.read(name)] == []


def may_be_overwritten(path):
    is_module = path.suffix == ".so" and path.name.startswith("cy")
    is_header = path.suffix == ".hpp" and path.parent.name == "_include"
    return is_module or is_header or path.suffix not in {".so", ".pyi", ".hpp"}


def test_the_namespace_stays_open(files):
    assert PurePath("cuda/__init__.py") not in files


def test_no_source_of_an_extension_is_included(files):
    packaged = [path for path in files if path.parts[0] in ("cuda", "halfwarp")]
    assert [str(path) for path in packaged if path.suffix not in KINDS] == []
    assert [path for path in packaged if "__pycache__" in path.parts] == []


def test_no_file_is_included_twice(files):
    content = collections.Counter(info.CRC for info in files.values() if info.file_size > 1000)
    assert content.most_common(1)[0][1] == 1


def test_it_is_small(wheel, files, record_property):
    packed = wheel.stat().st_size
    unpacked = sum(info.file_size for info in files.values())
    record_property("wheel MB", round(packed / 1e6, 2))
    record_property("installed MB", round(unpacked / 1e6, 2))
    assert packed <= LIMITS["wheel"]
    assert unpacked <= LIMITS["installed"]


def test_the_readme_states_its_size(wheel, files, root):
    """In MB, for any Python: the largest and the smallest differ by 2 %."""
    readme = (root / "README.md").read_text()
    stated = re.search(r"the wheel is ([\d.]+) MB, and ([\d.]+) MB when installed", readme)
    installed = sum(info.file_size for info in files.values())
    sizes = [float(each) * 1e6 for each in stated.groups()]
    assert sizes == pytest.approx([wheel.stat().st_size, installed], rel=0.03)


def test_the_low_layer_is_small(files, record_property):
    emulated = {f"cuda/{name}.so" for name in EMULATED}
    low = [info for path, info in files.items() if path.parts[:2] == ("cuda", "bindings")]
    low = [info for info in low if info.filename not in emulated]
    packed = sum(info.compress_size for info in low) / MEGABYTE
    unpacked = sum(info.file_size for info in low) / MEGABYTE
    record_property("low layer in the wheel MiB", round(packed, 2))
    record_property("low layer installed MiB", round(unpacked, 2))
    assert packed <= 2
    assert unpacked <= 5.5  # including the faces of cuda.bindings._v2


def test_no_debug_data_is_included(files, archive):
    for path in files:
        if path.suffix == ".so":
            assert b".debug_info" not in archive.read(str(path)), path


def test_the_metadata_states_the_requirements(archive, files, root):
    metadata = email.message_from_string(read(archive, files, "METADATA"))
    stated = re.search(r'__version__ = "(.*)"', (root / "halfwarp/__init__.py").read_text())[1]
    assert (metadata["Name"], metadata["Version"]) == ("halfwarp", stated)
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    required = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert [re.match(r"[\w-]+", line)[0] for line in required] == ["cuda-pathfinder"]
    assert {"cu13", "test", "docs", "bench"} <= set(metadata.get_all("Provides-Extra"))
    assert metadata.get_payload().startswith("# halfwarp")


def test_the_entry_points_name_existing_modules(archive, files):
    parser = configparser.ConfigParser(delimiters="=")
    parser.optionxform = str
    parser.read_string(read(archive, files, "entry_points.txt"))
    named = [*parser["pytest11"].values(), *parser["console_scripts"].values()]
    modules = [name.partition(":")[0] for name in named]
    assert modules == ["halfwarp.pytest_plugin", "halfwarp.command_line"]
    assert {PurePath(module.replace(".", "/") + ".py") for module in modules} <= set(files)


def test_its_tags_name_this_python_and_machine(archive, files):
    tag = re.search(r"^Tag: (.*)$", read(archive, files, "WHEEL"), re.M)[1]
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert tag.startswith(f"{version}-{version}") and "linux" in tag


def test_saxpy_runs_from_an_installation(installed, root):
    module_path = installed.run(
        "-c", "import cuda.core, cuda.bindings.driver as d; print(d.__file__)"
    )
    assert module_path.startswith(str(installed.packages))
    output = installed.run(root / "examples" / "saxpy.py")
    assert "verified" in output


def test_the_doctor_finds_the_installation_unchanged(installed, files):
    report = json.loads(installed.run("-m", "cuda.core", "doctor", "--json"))
    assert report["problems"] == []
    packages, result = report["facts"]["packages"], report["facts"]["files"]
    assert packages["installed_as"] == "wheel"
    assert packages["location"] == str(installed.packages)
    assert result["recorded"] >= len(files)
    assert not any(result[key] for key in ("changed", "missing", "not_ours", "sharing"))


def test_the_namespace_is_shared_with_pathfinder(installed):
    code = "import cuda.pathfinder, cuda.core, cuda; print(cuda.__file__, len(cuda.__path__))"
    assert installed.run("-c", code).split() == ["None", "1"]


def test_source_folder_does_not_hide_the_installation(installed, root):
    """In the root of the tree, `import cuda` also finds the source folder: it must work too."""
    code = "import cuda.core; print(cuda.core.Device().name)"
    done = subprocess.run(
        [installed.python, "-c", code],
        cwd=root,
        env={"HALFWARP_BACKEND": "emulator", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Emulated")
