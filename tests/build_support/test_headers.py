# SPDX-License-Identifier: Apache-2.0
"""Choice of the CUDA headers, and that they compile on other machines."""

from pathlib import Path

import pytest

from build_support import headers


@pytest.fixture
def toolkits(tmp_path, monkeypatch):
    """CUDA_PATH holds 13.0, CUDA_HOME 13.5; no header package is installed."""
    for variable, version in (("CUDA_PATH", 13000), ("CUDA_HOME", 13050)):
        folder = tmp_path / variable / "include"
        folder.mkdir(parents=True)
        (folder / "cuda.h").write_text(f"#define CUDA_VERSION {version}\n")
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setattr(headers.importlib.util, "find_spec", lambda _name: None)
    return tmp_path


def test_a_toolkit_of_another_version_is_skipped(toolkits):
    assert headers.find("13.5") == toolkits / "CUDA_HOME" / "include"


def test_the_newest_is_chosen_without_a_requested_version(toolkits):
    assert headers.find() == toolkits / "CUDA_HOME" / "include"


def test_a_missing_version_is_not_found(toolkits):
    assert headers.find("12.4") is None


def test_a_folder_without_the_header_is_no_candidate(toolkits, monkeypatch):
    monkeypatch.setenv("CUDA_HOME", str(toolkits / "nowhere"))
    assert headers.find() == toolkits / "CUDA_PATH" / "include"


def test_on_arm_the_header_with_opengl_finds_our_header(compile_only):
    result = headers.find("13.5")
    if not result:
        pytest.skip("no headers of CUDA 13.5 here")
    foreign = Path(headers.__file__).parents[1] / "cpp" / "driver" / "foreign"
    text = "#include <GL/gl.h>\n#include <cuda_gl_interop.h>\n"
    compile_only(text, "c", "-D__aarch64__", f"-I{foreign}", f"-I{result}")
