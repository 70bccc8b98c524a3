# SPDX-License-Identifier: Apache-2.0
"""Copies in the wheel of files that other distributions may overwrite."""

import pytest

from halfwarp import archive


@pytest.mark.parametrize(
    ("name", "is_archived"),
    [
        ("cuda/core/__init__.py", True),
        ("cuda/bindings/cydriver.pxd", True),
        ("cuda/bindings/cydriver.so", True),
        ("cuda/bindings/cynvrtc.cpython-311-x86_64-linux-gnu.so", True),
        ("cuda/bindings/_low.cpython-311-x86_64-linux-gnu.so", False),
        ("cuda/core/_include/handles.hpp", True),
        ("cuda/core/handles.hpp", False),
        ("cuda/core/cython.hpp", False),
        ("cuda/core/__init__.pyi", False),
        ("cuda/core/__pycache__/__init__.cpython-311.pyc", False),
    ],
)
def test_archived_files_have_the_names_of_foreign_files(name, is_archived):
    assert archive.is_archived(name) == is_archived


def test_an_archive_contains_the_files_of_the_packages(tmp_path):
    assert archive.read(tmp_path) == {}
    files = {"cuda/core/a.py": b"a", "cuda/bindings/b.pxd": b"", "cuda/core/c.pyi": b"c"}
    for name, content in {**files, "halfwarp/d.py": b"d"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    archive.pack(tmp_path)
    assert archive.read(tmp_path) == {"cuda/core/a.py": b"a", "cuda/bindings/b.pxd": b""}
