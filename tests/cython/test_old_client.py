# SPDX-License-Identifier: Apache-2.0
"""A client compiled against another release: its import names the mismatch."""

import cuda.core
import pytest

CLIENT = """
from cuda.core._core cimport Stream, {function}
def use(Stream stream):
    return <size_t>{function}(stream)
"""
OLD_DECLARATIONS = """
cdef class Stream:
    pass
cdef {signature}
"""

# Cython's warning about a class that has grown since.
pytestmark = pytest.mark.filterwarnings("ignore:cuda.core._core.Stream size changed")


@pytest.fixture
def import_old_client(import_built, tmp_path):
    """Import a client of one function, with an older declaration."""

    def run(function, signature):
        package = tmp_path / "cuda" / "core"
        package.mkdir(parents=True)
        (package / "__init__.pxd").touch()
        (package / "_core.pxd").write_text(OLD_DECLARATIONS.format(signature=signature))
        (tmp_path / "old_client.pyx").write_text(CLIENT.format(function=function))
        return import_built("old_client", source=tmp_path, packages=tmp_path)

    return run


def test_a_function_of_another_signature_is_named(import_old_client):
    with pytest.raises(TypeError, match="Stream_as_cu.* has wrong signature"):
        import_old_client("Stream_as_cu", "int Stream_as_cu(Stream stream) except -1")


def test_a_missing_function_is_named(import_old_client):
    with pytest.raises(ImportError, match="Stream_as_handle"):
        import_old_client("Stream_as_handle", "void* Stream_as_handle(Stream stream) except NULL")


def test_a_client_compiles_in_no_layout(import_old_client):
    """The client was built without the fields of Stream, which it never accesses."""
    signature = "bint Stream_is_default_token(Stream stream) noexcept nogil"
    client = import_old_client("Stream_is_default_token", signature)
    assert client.use(cuda.core.LEGACY_DEFAULT_STREAM) == 1
