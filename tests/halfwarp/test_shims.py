# SPDX-License-Identifier: Apache-2.0
"""Stand-in wheels: their contents, and that pip accepts them for NVIDIA's packages."""

import base64
import csv
import email
import hashlib
import json
import stat
import subprocess
import sys
import venv
import zipfile
from argparse import Namespace
from pathlib import Path

import cuda.bindings
import cuda.core
import pytest

from halfwarp import shims

NAMES = [
    "cuda_bindings-13.5.0+halfwarp-py3-none-any.whl",
    "cuda_core-1.2.2+halfwarp-py3-none-any.whl",
    "cuda_python-13.5.0+halfwarp-py3-none-any.whl",
]


def arguments(folder=None, here=False):
    return Namespace(folder=folder, here=here)


@pytest.fixture
def folder(tmp_path, capsys):
    assert shims.main(arguments(str(tmp_path / "made here"))) == 0
    capsys.readouterr()
    return tmp_path / "made here"


def metadata_of(path):
    with zipfile.ZipFile(path) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_wheels_have_the_names_of_the_specification(folder):
    assert sorted(path.name for path in folder.iterdir()) == NAMES


@pytest.mark.parametrize(
    ("index", "extras", "requirements"),
    [
        (0, ["all"], ["halfwarp"]),
        (1, ["cu12", "cu13"], ["halfwarp", 'halfwarp[cu13]; extra == "cu13"']),
        (2, ["all"], ["halfwarp"]),
    ],
)
def test_each_wheel_requires_ours_and_has_the_extras(folder, index, extras, requirements):
    stated = metadata_of(folder / NAMES[index])
    assert stated["Name"].replace("-", "_") == NAMES[index].partition("-")[0]
    assert stated["Version"] == NAMES[index].split("-")[1]
    assert stated.get_all("Provides-Extra") == extras
    assert stated.get_all("Requires-Dist") == requirements


@pytest.mark.parametrize("name", NAMES)
def test_the_record_is_correct_and_nothing_is_installed(folder, name):
    with zipfile.ZipFile(folder / name) as archive:
        (record,) = (n for n in archive.namelist() if n.endswith("/RECORD"))
        rows = list(csv.reader(archive.read(record).decode().splitlines()))
        assert [row[0] for row in rows] == archive.namelist()
        assert all(row[0].startswith(record.partition("/")[0]) for row in rows)
        for path, digest, size in rows[:-1]:
            data = archive.read(path)
            result = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            assert (digest, int(size)) == (f"sha256={result}", len(data))


def test_the_levels_equal_those_of_the_packages():
    assert cuda.bindings.__version__ == shims.BINDINGS_LEVEL
    assert cuda.core.__version__ == shims.CORE_LEVEL


@pytest.mark.parametrize("name", NAMES)
def test_files_have_the_earliest_date_and_the_mode_of_any_user(folder, name):
    with zipfile.ZipFile(folder / name) as archive:
        entries = archive.infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {stat.filemode(entry.external_attr >> 16) for entry in entries} == {"-rw-r--r--"}


def test_the_folder_is_created_with_its_parents(tmp_path, capsys):
    assert shims.main(arguments(str(tmp_path / "a" / "b"))) == 0
    assert shims.main(arguments(str(tmp_path / "a" / "b"))) == 0
    assert len(list((tmp_path / "a" / "b").iterdir())) == 3


def test_the_wheels_are_reproducible(folder, tmp_path, capsys):
    second = tmp_path / "again"
    shims.main(arguments(str(second)))
    assert [(second / n).read_bytes() for n in NAMES] == [(folder / n).read_bytes() for n in NAMES]


def test_the_command_for_pip_is_printed(tmp_path, capsys):
    folder = tmp_path / "with space"
    shims.main(arguments(str(folder)))
    line = capsys.readouterr().out.strip()
    assert line.startswith("pip install ")
    assert all(f"'{folder / name}'" in line for name in NAMES)


def test_an_unwritable_folder_is_reported(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert shims.main(arguments(str(tmp_path / "file" / "folder"))) == 1
    assert "file" in capsys.readouterr().err


class Distribution:
    """An installed distribution, as `importlib.metadata` describes it."""

    def __init__(self, name, version, files=()):
        self.name, self.version, self.record = name, version, "".join(f"{f},,\n" for f in files)

    def read_text(self, name):
        return self.record if name == "RECORD" else None


class TestInstallation:
    def install(self, monkeypatch, *distributions):
        """Install beside the distributions; return the status and what would be written."""
        written = []
        table = {each.name: each for each in distributions}
        monkeypatch.setattr(shims.installation, "installed", lambda: table)
        monkeypatch.setattr(shims, "install", lambda absent, ours: written.extend(absent))
        return shims.main(arguments(here=True)), [each.name for each in written]

    def test_absent_stand_ins_are_installed(self, monkeypatch, capsys):
        ours = Distribution("halfwarp", "1", ["cuda/core/__init__.py"])
        present = Distribution("cuda-core", f"1.2.2{shims.LABEL}")
        assert self.install(monkeypatch, ours, present) == (0, ["cuda-bindings", "cuda-python"])
        assert capsys.readouterr().out.count("installed ") == 2

    def test_a_foreign_package_is_named_and_kept(self, monkeypatch, capsys):
        ours = Distribution("halfwarp", "1", ["cuda/core/__init__.py"])
        foreign = Distribution("cuda-core", "1.2.2")
        assert self.install(monkeypatch, ours, foreign) == (1, [])
        message = capsys.readouterr().err
        assert "cuda-core 1.2.2 is installed" in message and "halfwarp repair" in message

    def test_the_package_is_needed(self, monkeypatch, capsys):
        assert self.install(monkeypatch) == (1, [])
        assert "halfwarp is not installed here" in capsys.readouterr().err


class TestPip:
    @pytest.fixture(autouse=True)
    def pip(self):
        pytest.importorskip("pip")

    @pytest.fixture
    def index(self, folder):
        """Write the stand-ins, a halfwarp without files, and a package that requires NVIDIA's."""
        write(folder, "halfwarp", "0.1.0", ["nothing-more; extra == 'cu13'"], extra="cu13")
        write(folder, "nothing-more", "1")
        write(folder, "client", "1", ["cuda-bindings<14,>=13", "cuda-core[cu13]", "cuda-python"])
        return folder

    def test_foreign_requirements_resolve_to_ours(self, index):
        options = ["--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
        done = pip_run("install", *options, "--no-index", "--find-links", index, "client")
        chosen = {
            each["metadata"]["name"]: each["metadata"]["version"]
            for each in json.loads(done.stdout)["install"]
        }
        assert chosen == {
            "client": "1",
            "cuda-bindings": "13.5.0+halfwarp",
            "cuda-core": "1.2.2+halfwarp",
            "cuda-python": "13.5.0+halfwarp",
            "halfwarp": "0.1.0",
            "nothing-more": "1",
        }

    @pytest.mark.slow
    def test_an_environment_with_them_is_consistent(self, index, tmp_path):
        venv.create(tmp_path / "venv", symlinks=True, with_pip=False)
        python = tmp_path / "venv" / "bin" / "python"
        offline = ["--no-index", "--find-links", index, "--quiet"]
        pip_run("--python", python, "install", *offline, "client")
        assert "No broken requirements" in pip_run("--python", python, "check").stdout
        # The second run downloads nothing in place of our wheels.
        done = pip_run("--python", python, "install", "--no-index", "cuda-core[cu13]>=1.2")
        assert "already satisfied: cuda-core" in done.stdout


def pip_run(*arguments):
    options = ["--disable-pip-version-check", "--no-input"]
    line = [sys.executable, "-m", "pip", *options, *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def write(folder, name, version, requires=(), extra=None):
    """Write a wheel without files."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in requires]
    lines += [f"Provides-Extra: {extra}"] if extra else []
    with zipfile.ZipFile(Path(folder) / f"{info[:-10]}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{info}/WHEEL", shims.WHEEL)
        archive.writestr(f"{info}/RECORD", "")
