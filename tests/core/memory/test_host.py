# SPDX-License-Identifier: Apache-2.0
"""Host: the host as a location."""

import copy
import gc
import pickle
import threading
import weakref

import pytest
from cuda.core import Host


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (Host, "Host()"),
        (lambda: Host(3), "Host(numa_id=3)"),
        (lambda: Host(numa_id=3), "Host(numa_id=3)"),
        (Host.numa_current, "Host.numa_current()"),
        (lambda: Host(is_numa_current=True), "Host.numa_current()"),
    ],
)
def test_its_text_says_how_it_is_made(make, text):
    assert repr(make()) == text


def test_equal_arguments_give_the_same_object_from_any_thread():
    found = []
    threads = [threading.Thread(target=lambda: found.append(Host(5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for each in found}) == 1
    assert Host(numa_id=5) is found[0]


def test_different_forms_differ():
    forms = [Host(), Host(0), Host(1), Host.numa_current()]
    assert len(set(forms)) == 4
    assert Host() != 0


def test_it_pickles_to_the_same_object_and_deepcopies_in_containers():
    for host in (Host(), Host(2), Host.numa_current()):
        assert pickle.loads(pickle.dumps(host)) is host
        assert copy.copy(host) is host
        assert copy.deepcopy({"at": [host]})["at"][0] is host


def test_it_cannot_be_changed():
    host = Host(4)
    with pytest.raises(AttributeError, match="immutable"):
        host.numa_id = 5
    with pytest.raises(AttributeError, match="immutable"):
        del host._numa_id
    assert host.numa_id == 4
    assert host.is_numa_current is False


@pytest.mark.parametrize("wrong", [-1, True, 1.0, "0"])
def test_a_node_is_a_whole_number_from_0_on(wrong):
    with pytest.raises(ValueError, match="numa_id must be a non-negative int, got"):
        Host(wrong)


def test_a_node_and_the_current_one_exclude_each_other():
    with pytest.raises(ValueError, match="numa_id and is_numa_current are mutually exclusive"):
        Host(1, is_numa_current=True)


def test_what_nobody_holds_goes():
    reference = weakref.ref(Host(77))
    gc.collect()
    assert reference() is None
    assert Host(77).numa_id == 77
