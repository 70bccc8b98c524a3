# SPDX-License-Identifier: Apache-2.0
"""pip installs from the written index, compares digests, and prefers the wheel of the day."""

import functools
import http.server
import re
import subprocess
import sys
import threading
import zipfile

import pytest

from build_support.wheels import index, nightly, normal, sbom

EPOCH = 1_700_000_000
METADATA = "Metadata-Version: 2.4\nName: halfwarp\nVersion: {}\nRequires-Python: >=3.{}\n"


def write_wheel(folder, version, minor=11):
    info = f"halfwarp-{version}.dist-info"
    files = {
        "halfwarp/__init__.py": f"__version__ = '{version}'\n".encode(),
        f"{info}/METADATA": METADATA.format(version, minor).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"halfwarp-{version}-py3-none-any.whl"
    normal.write_wheel(path, files, EPOCH)
    return path


@pytest.fixture
def served(tmp_path):
    """Return the folder of the site and its address."""
    site = tmp_path / "site"
    site.mkdir()
    handler = functools.partial(QuietHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield site, f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Print nothing: the output of a test is for its failure."""


def download(address, folder, *options):
    pytest.importorskip("pip", reason="pip is not installed")
    pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check"]
    command = [*pip, "download", "--no-deps", "--no-cache-dir", "--index-url", address, *options]
    done = subprocess.run(
        [*command, "-d", folder, "halfwarp"], capture_output=True, text=True, timeout=300
    )
    return done, sorted(path.name for path in folder.glob("*"))


def test_pip_prefers_the_wheel_of_the_day_to_the_release(served, tmp_path):
    site, address = served
    write_wheel(tmp_path / "dist", "0.1.0")
    write_wheel(tmp_path / "dist", "0.1.0+20261128.gd31173e")
    write_wheel(tmp_path / "dist", "0.2.0", minor=99)  # for a later Python
    copies = index.write(tmp_path / "dist", site / "simple")
    assert len(copies) == 3
    done, names = download(address, tmp_path / "got")
    assert done.returncode == 0, done.stderr
    assert names == ["halfwarp-0.1.0+20261128.gd31173e-py3-none-any.whl"]
    with zipfile.ZipFile(tmp_path / "got" / names[0]) as archive:
        assert b"20261128" in archive.read("halfwarp/__init__.py")


def test_pip_refuses_a_wheel_that_was_changed_after_the_index_was_written(served, tmp_path):
    site, address = served
    write_wheel(tmp_path / "dist", "0.1.0")
    (copy,) = index.write(tmp_path / "dist", site / "simple")
    copy.write_bytes(copy.read_bytes() + b"\0")
    done, names = download(address, tmp_path / "got")
    assert done.returncode != 0 and names == []
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_an_index_of_nothing_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="neither a wheel nor a source archive"):
        index.write(tmp_path, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_wheel_of_the_day_has_date_and_commit_and_the_tree_its_version_again(tmp_path):
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y"]
    (tmp_path / "halfwarp").mkdir()
    path = tmp_path / "halfwarp" / "__init__.py"
    path.write_text('__version__ = "0.1.0"\n')
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    with pytest.raises(RuntimeError), nightly.version(tmp_path, EPOCH) as local:
        assert re.fullmatch(r"20231114\.g[0-9a-f]{7}", local)
        assert path.read_text() == f'__version__ = "0.1.0+{local}"\n'
        with pytest.raises(SystemExit, match="no version of numbers only"):
            nightly.version(tmp_path, EPOCH).__enter__()
        raise RuntimeError
    assert path.read_text() == '__version__ = "0.1.0"\n'


def test_the_list_of_contents_encodes_the_version_of_the_day():
    described = sbom.component("application", "halfwarp", "0.1.0+20261128.gd3", "Apache-2.0")
    assert described["purl"] == "pkg:pypi/halfwarp@0.1.0%2B20261128.gd3"
    assert described["version"] == "0.1.0+20261128.gd3"
