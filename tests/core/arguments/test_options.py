# SPDX-License-Identifier: Apache-2.0
"""Options arguments: an instance, a dict of its keywords, or None."""

import pytest
from cuda.core import StreamOptions
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
