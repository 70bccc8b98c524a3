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
def test_its_text_is_the_call_that_creates_it(make, text):
    assert repr(make()) == text


def test_equal_arguments_give_the_same_object_on_any_thread():
    hosts = []
    threads = [threading.Thread(target=lambda: hosts.append(Host(5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for each in hosts}) == 1
    assert Host(numa_id=5) is hosts[0]


def test_different_forms_are_unequal():
    forms = [Host(), Host(0), Host(1), Host.numa_current()]
    assert len(set(forms)) == 4
    assert Host() != 0


def test_it_pickles_to_the_same_object_and_deepcopies_in_containers():
    for host in (Host(), Host(2), Host.numa_current()):
        assert pickle.loads(pickle.dumps(host)) is host
        assert copy.copy(host) is host
        assert copy.deepcopy({"at": [host]})["at"][0] is host


def test_it_is_immutable():
    host = Host(4)
    with pytest.raises(AttributeError, match="immutable"):
        host.numa_id = 5
    with pytest.raises(AttributeError, match="immutable"):
        del host._numa_id
    assert host.numa_id == 4
    assert host.is_numa_current is False


@pytest.mark.parametrize("wrong", [-1, True, 1.0, "0"])
def test_a_node_is_a_non_negative_integer(wrong):
    with pytest.raises(ValueError, match="numa_id must be a non-negative int, got"):
        Host(wrong)


def test_a_node_and_the_current_one_exclude_each_other():
    with pytest.raises(ValueError, match="numa_id and is_numa_current are mutually exclusive"):
        Host(1, is_numa_current=True)


def test_unreferenced_objects_are_destroyed():
    reference = weakref.ref(Host(77))
    gc.collect()
    assert reference() is None
    assert Host(77).numa_id == 77
