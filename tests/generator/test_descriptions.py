# SPDX-License-Identifier: Apache-2.0
"""Each function and each parameter of the low layer has one sentence that describes it."""

import re
import tomllib
from pathlib import Path

import pytest

from generator import descriptions, libraries
from generator.descriptions import phrases_of
from generator.descriptions.words import split, with_article

FOLDER = Path(descriptions.__file__).parent
WORDS = 20  # of a sentence
NAMES = {"InfoROM", "KiB", "MHz", "NvSciSync", "OpenGL", "OptiX", "cuFile", "vGPU", "vGPUs"}
LIBRARIES = libraries.load_all()


def functions():
    return [f for library in LIBRARIES.values() for f in library.functions if f.in_python]


def function(library, name):
    (result,) = (f for f in LIBRARIES[library].functions if f.name == name)
    return result


def is_sentence(text):
    """Return whether it is one sentence of known words, without a part of a C name."""
    plain = re.sub(r"``\w+``", "type", text)
    names = set(re.findall(r"\w*[a-z_][A-Z_]\w*", plain)) - NAMES
    is_one = re.fullmatch(r"[A-Zv][^.]*\.", plain) and not re.search(r"  | [,.]", plain)
    return bool(is_one and not names and len(text.split()) <= WORDS)


def test_each_function_has_a_sentence():
    assert {f.name: f.sentence for f in functions() if not is_sentence(f.sentence)} == {}


def test_each_parameter_has_a_sentence():
    phrases = {(f.name, name): text for f in functions() for name, text in phrases_of(f).items()}
    assert len(phrases) > 3000
    expected = {(f.name, text.partition("=")[0]) for f in functions() for text in f.py}
    assert phrases.keys() == expected
    assert {name: text for name, text in phrases.items() if not is_sentence(text)} == {}


@pytest.mark.parametrize(
    ("library", "name", "sentence"),
    [
        (
            "driver",
            "cuMemcpyDtoHAsync",
            "Copies from device memory to host memory in stream order.",
        ),
        ("driver", "cuGraphAddKernelNode", "Adds a kernel node to a graph."),
        ("driver", "cuStreamCreateWithPriority", "Creates a stream with a priority."),
        ("driver", "cuGreenCtxGetId", "Returns the ID of a green context."),
        ("runtime", "cudaFreeMipmappedArray", "Frees a mipmapped array."),
        ("nvml", "nvmlDeviceGetNumFans", "Returns the number of fans of a device."),
        ("nvml", "nvmlDeviceSetMigMode", "Sets the MIG mode of a device."),
        ("nvrtc", "nvrtcGetPTX", "Returns the PTX of a program."),
    ],
)
def test_a_family_has_one_pattern(library, name, sentence):
    assert function(library, name).sentence == sentence


def test_each_sentence_of_the_file_belongs_to_a_function():
    written = tomllib.loads((FOLDER / "sentences.toml").read_text()).values()
    assert set(written) - {f.sentence for f in functions()} == set()


def test_each_parameter_of_the_file_exists():
    written = tomllib.loads((FOLDER / "parameters.toml").read_text())["names"]
    names = {p.c_name for f in functions() for p in f.params}
    assert set(written) - names - {name for f in functions() for name in phrases_of(f)} == set()


def test_the_fields_that_arguments_set_have_sentences():
    assert phrases_of(function("nvml", "nvmlSystemEventSetWait")) == {
        "event_set": "Event set.",
        "timeout_ms": "Most milliseconds to wait.",
        "buffer_size": "Most events to return.",
    }


def test_the_section_of_a_function_follows_numpydoc():
    free, synchronize = (
        function("driver", "cuMemFree"),
        function("runtime", "cudaDeviceSynchronize"),
    )
    assert descriptions.section_of(free) == "\n\nParameters\n----------\ndptr\n    Device address."
    assert descriptions.section_of(synchronize) == ""


def test_names_are_split_at_known_words():
    assert split("MemPoolGetAccess") == ["MemPool", "Get", "Access"]
    assert split("DeviceGetNvLinkState_v2") == ["Device", "Get", "NvLink", "State"]


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("event", "an event"),
        ("user object", "a user object"),
        ("ID", "an ID"),
        ("UUID", "a UUID"),
        ("events", "events"),
        ("access", "an access"),
        ("SM", "an SM"),
        ("PTX text", "a PTX text"),
        ("NUMA node", "a NUMA node"),
        ("RUSD page", "a RUSD page"),
        ("unit", "a unit"),
        ("bus", "a bus"),
        ("", ""),
    ],
)
def test_articles(words, result):
    assert with_article(words) == result
