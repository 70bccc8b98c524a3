# SPDX-License-Identifier: Apache-2.0
"""File descriptors that travel with one message of multiprocessing: all of them or none."""

import os
import socket
from multiprocessing import reduction, resource_sharer
from multiprocessing.context import get_spawning_popen
from weakref import WeakKeyDictionary

NEXT = b"n"
MOST = 250  # file descriptors in one message of a socket; Linux accepts 253

_inherited = WeakKeyDictionary()  # Popen -> handles that its child process inherits


def pack(handles):
    """Return an object that multiprocessing pickles and `detach` converts to numbers. Host only.

    A process that is about to start inherits the handles, which live as long as its Popen. Other
    messages carry an address, from which the receiver fetches them once.
    """
    popen = get_spawning_popen()
    if popen is None:
        return FetchedDescriptors(handles)
    _inherited.setdefault(popen, []).append(handles)
    return InheritedDescriptors([reduction.DupFd(each.handle) for each in handles])


class InheritedDescriptors:
    """File descriptors that a child process has from its start."""

    def __init__(self, numbers):
        self.numbers = numbers

    def detach(self):
        """Return the numbers; the caller owns the file descriptors. Host only."""
        return [each.detach() for each in self.numbers]


class FetchedDescriptors:
    """File descriptors that the receiver fetches from the sharing thread of the sender."""

    def __init__(self, handles):
        self.count = len(handles)
        self.ticket = resource_sharer._resource_sharer.register(
            lambda connection, _: send(connection, handles), lambda: close(handles)
        )

    def detach(self):
        """Fetch the file descriptors, which the caller owns then. Host only."""
        with resource_sharer._resource_sharer.get_connection(self.ticket) as connection:
            return receive(connection, self.count)


def send(connection, handles):
    """Send the file descriptors of handles through a connection. Host only."""
    numbers = [each.handle for each in handles]
    with socket_of(connection) as channel:
        for start in range(0, len(numbers), MOST):
            # A message waits for the receiver, because a stream merges the bytes of two messages.
            if start and channel.recv(1) != NEXT:
                return
            socket.send_fds(channel, [NEXT], numbers[start : start + MOST])


def receive(connection, count):
    """Return received file descriptors. Raises OSError, and closes them, if some are missing."""
    numbers = []
    with socket_of(connection) as channel:
        while len(numbers) < count:
            if numbers:
                channel.send(NEXT)
            expected = min(MOST, count - len(numbers))
            _, received, _, _ = socket.recv_fds(channel, 1, MOST)
            numbers += received
            if len(received) < expected:
                for each in numbers:
                    os.close(each)
                raise OSError(
                    f"{len(numbers)} of {count} file descriptors of a buffer arrived: the sender "
                    "ended, or this process is out of file descriptors (ulimit -n)"
                )
    return numbers


def socket_of(connection):
    """Return a socket over a duplicate of the file descriptor of a connection. Host only."""
    return socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)


def close(handles):
    """Close handles that were sent, or that nobody fetches. Host only."""
    for each in handles:
        each.close()
