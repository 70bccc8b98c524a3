# SPDX-License-Identifier: Apache-2.0
"""Messages about occasional events reach `logging` at their levels, and name their caller."""

import logging
import sys

import pytest

from halfwarp import logs


@pytest.fixture
def messages(caplog):
    """Return the lines that a function logs at a level."""

    def messages(level, function, *arguments):
        caplog.clear()
        with caplog.at_level(level, "halfwarp"):
            function(*arguments)
        assert {record.filename for record in caplog.records} <= {"test_logs.py"}
        return [(record.levelname, record.message) for record in caplog.records]

    return messages


@pytest.mark.parametrize(
    ("function", "arguments", "level", "text"),
    [
        (
            logs.note_compiled,
            ("NVRTC", "cubin", 0.0125, 99),
            "INFO",
            "compiled to cubin by NVRTC in 12.5 ms: 99 bytes",
        ),
        (
            logs.note_linked,
            (3, "ptx", 0.5, 7),
            "INFO",
            "linked 3 inputs to ptx in 500.0 ms: 7 bytes",
        ),
        (logs.note_cache, ({}, b"\1\xab" * 9, True), "DEBUG", "01ab01ab01ab01ab found in dict"),
        (logs.note_cache, ([], b"\2", False), "DEBUG", "02 not found in list"),
        (logs.note_pool, (1, 4096, 8192), "DEBUG", "pool of device 1 grew by 4096 bytes to 8192"),
        (logs.note_library, ("nvrtc", "/a/b"), "INFO", "nvrtc: opened /a/b"),
    ],
)
def test_an_event_is_one_line_at_its_level(messages, function, arguments, level, text):
    assert messages(level, function, *arguments) == [(level, text)]
    above = logging.getLevelName(level) + 1
    assert messages(above, function, *arguments) == []


def test_a_program_without_logging_gets_no_message(messages, monkeypatch):
    monkeypatch.delitem(sys.modules, "logging")
    assert messages("DEBUG", logs.note_library, "nvrtc", "/a/b") == []
    assert "logging" not in sys.modules
