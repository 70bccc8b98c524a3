# SPDX-License-Identifier: Apache-2.0
"""Allocations that a Buffer owns, and deallocation by address."""

import threading

import pytest
from cuda.core import Buffer

OWNED = "a Buffer owns the allocation at"


def test_an_address_does_not_free_the_allocation_of_a_buffer(pool, stream):
    buffer = pool.allocate(5000, stream=stream)
    with pytest.warns(RuntimeWarning, match=OWNED):
        pool.deallocate(buffer.handle, 5000, stream=stream)
    with pool.allocate(5000, stream=stream) as other:
        assert other.handle != buffer.handle
        buffer.close()
        with pool.allocate(5000, stream=stream) as third:
            assert third.handle != other.handle
    assert pool.statistics()["allocation_count.current"] == 0


def test_a_part_and_its_whole_own_the_allocation(pool, stream):
    buffer = pool.allocate(5000, stream=stream)
    part = buffer.resize_view(0, 100)
    buffer.close()
    with pytest.warns(RuntimeWarning, match=OWNED):
        pool.deallocate(part.handle, 100, stream=stream)
    part.close()
    assert pool.statistics()["allocation_count.current"] == 0


def test_a_second_buffer_over_the_address_does_not_free_it(pool, stream):
    buffer = pool.allocate(5000, stream=stream)
    alias = Buffer.from_handle(buffer.handle, 5000, mr=pool, stream=stream)
    with pytest.warns(RuntimeWarning, match=OWNED):
        alias.close()
    assert pool.statistics()["allocation_count.current"] == 1
    buffer.close()


def test_an_address_without_a_buffer_is_freed_once(pool, stream):
    buffer = pool.allocate(5000, stream=stream)
    address = buffer.handle
    buffer._clear()
    assert pool.statistics()["allocation_count.current"] == 1
    pool.deallocate(address, 5000, stream=stream)
    with pytest.raises(ValueError, match="no allocation of this pool begins at"):
        pool.deallocate(address, 5000, stream=stream)
    with pool.allocate(5000, stream=stream) as later:
        assert later.handle == address
        with pytest.warns(RuntimeWarning, match=OWNED):
            pool.deallocate(address, 5000, stream=stream)


def test_of_two_threads_one_frees_an_address(pool, device, stream):
    for _ in range(50):
        buffer = pool.allocate(700, stream=stream)
        address, errors, barrier = buffer.handle, [], threading.Barrier(2)
        buffer._clear()

        def free(address=address, errors=errors, barrier=barrier):
            device.set_current()
            barrier.wait()
            try:
                pool.deallocate(address, 700, stream=stream)
            except ValueError as error:
                errors.append(error)

        threads = [threading.Thread(target=free) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(errors) == 1
    assert pool.statistics()["allocation_count.current"] == 0
