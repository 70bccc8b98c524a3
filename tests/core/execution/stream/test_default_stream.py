# SPDX-License-Identifier: Apache-2.0
"""The two default-stream tokens, and the choice between them where no stream is passed."""

import pytest
from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Stream
from cuda.core._core import default_stream

TOKENS = pytest.mark.parametrize(
    ("token", "address"), [(LEGACY_DEFAULT_STREAM, 1), (PER_THREAD_DEFAULT_STREAM, 2)]
)


@TOKENS
def test_a_token_has_its_address(token, address):
    assert int(token.handle) == address
    assert hash(token) == address
    assert token.__cuda_stream__() == (0, address)


@TOKENS
def test_closing_a_token_does_nothing(device, token, address):
    token.close()
    with token:
        pass
    assert not token.is_closed
    token.sync()


@TOKENS
def test_a_token_belongs_to_the_current_context(device, token, address, in_new_thread):
    assert token.context == device.context
    assert token.device is device
    assert token.record().context == device.context
    with pytest.raises(RuntimeError, match="No current CUDA context"):
        in_new_thread(lambda: token.context)


def test_the_class_methods_make_equal_wrappers(device):
    class Mine(Stream):
        """Streams may be subclassed."""

    for make, token in [
        (Stream._legacy_default, LEGACY_DEFAULT_STREAM),
        (Stream._per_thread_default, PER_THREAD_DEFAULT_STREAM),
    ]:
        assert make() == token
        assert make() is not token
    assert type(Mine._legacy_default()) is Mine


@pytest.mark.parametrize(
    ("setting", "address"),
    [("", 1), ("0", 1), ("no", 1), ("1", 2), ("-1", 2), ("123foo", 2), (" 7", 2)],
)
def test_the_environment_is_parsed_like_strtol(run_python, setting, address):
    code = "from cuda.core._core import default_stream; print(int(default_stream().handle))"
    variable = {"CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM": setting}
    assert run_python(code, **variable).split() == [str(address)]


def test_each_call_reads_the_environment(monkeypatch, device):
    for setting, chosen in (("1", PER_THREAD_DEFAULT_STREAM), ("0", LEGACY_DEFAULT_STREAM)):
        monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", setting)
        assert default_stream() is device.default_stream is chosen
