# SPDX-License-Identifier: Apache-2.0
"""Options arguments: an instance, a dict of its keywords, or None."""

import copy
import pickle
import weakref

import numpy as np
import pytest
from cuda.core import (
    ContextOptions,
    DeviceMemoryResourceOptions,
    EventOptions,
    ManagedMemoryResourceOptions,
    PinnedMemoryResourceOptions,
    SMResourceOptions,
    StreamOptions,
    WorkqueueResourceOptions,
)
from cuda.core._core import check_or_create_options


def test_an_instance_is_used_unchanged():
    options = StreamOptions()
    assert check_or_create_options(StreamOptions, options) is options


def test_a_dict_is_converted_to_an_instance():
    assert check_or_create_options(StreamOptions, {"priority": 1}) == StreamOptions(priority=1)


def test_none_selects_the_defaults_unless_accepted():
    assert check_or_create_options(StreamOptions, None) == StreamOptions()
    assert check_or_create_options(StreamOptions, None, "", keep_none=True) is None


def test_unknown_keywords_are_refused_by_the_class():
    with pytest.raises(TypeError, match="color"):
        check_or_create_options(StreamOptions, {"color": "red"})


@pytest.mark.parametrize("wrong", [1, "priority", [("priority", 1)], StreamOptions])
def test_other_types_are_refused_with_the_description(wrong):
    text = "my things must be provided as an object of type StreamOptions or as a dict"
    with pytest.raises(TypeError, match=text) as caught:
        check_or_create_options(StreamOptions, wrong, "my things")
    assert repr(wrong) in str(caught.value)


WITHOUT_OTHER_ATTRIBUTES = [
    pytest.param(lambda: ContextOptions([]), id="ContextOptions"),
    DeviceMemoryResourceOptions,
    EventOptions,
    ManagedMemoryResourceOptions,
    PinnedMemoryResourceOptions,
    SMResourceOptions,
    StreamOptions,
    WorkqueueResourceOptions,
]


@pytest.mark.parametrize("create", WITHOUT_OTHER_ATTRIBUTES)
def test_a_misspelled_attribute_is_refused(device, create):
    options = create()
    with pytest.raises(AttributeError, match=f"'{type(options).__name__}' object has no attribute"):
        options.max_sise = 1
    assert pickle.loads(pickle.dumps(options, 2)) == copy.deepcopy(options) == options
    assert weakref.ref(options)() is options


@pytest.mark.parametrize("cls", [StreamOptions, type("Derived", (StreamOptions,), {})])
def test_the_truth_of_a_field_is_checked(device, cls):
    options = cls()
    options.nonblocking = np.zeros(2)
    with pytest.raises(ValueError, match="StreamOptions.nonblocking must be True or False"):
        device.create_stream(options=options)
