# SPDX-License-Identifier: Apache-2.0
"""Another process to share with: it runs what it is sent, and answers."""

import functools
import multiprocessing
import os
import signal
import traceback
from collections import Counter
from multiprocessing import reduction

PATIENCE = 60  # seconds, after which a peer counts as stuck


class PeerError(Exception):
    """What the peer raised, as its traceback."""


class Peer:
    """A process of its own, with a device, a stream and whatever it is given."""

    def __init__(self, method="spawn"):
        context = multiprocessing.get_context(method)
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def run(self, source, **given):
        """Execute a text there, with the objects by their names; its `result` comes back."""
        self.send(source, **given)
        return self.answer()

    def send(self, source, **given):
        self.pipe.send((source, given))

    def answer(self):
        if not self.pipe.poll(PATIENCE):
            raise TimeoutError("the peer does not answer")
        succeeded, answer = self.pipe.recv()
        if not succeeded:
            raise PeerError(answer)
        return answer

    def end(self):
        """Let it end by itself; its exit status."""
        if not self.pipe.closed:
            self.pipe.close()
        self.process.join(PATIENCE)
        return self.process.exitcode

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join(PATIENCE)
        self.pipe.close()


def serve(pipe):
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    names = {"device": device, "stream": device.create_stream(), **READERS}
    while True:
        try:
            source, given = pipe.recv()
        except EOFError:
            break
        except BaseException:
            pipe.send((False, traceback.format_exc()))
            continue
        names |= given
        names["result"] = None
        try:
            exec(source, names)
            pipe.send((True, names["result"]))
        except BaseException:
            pipe.send((False, traceback.format_exc()))
        given = None


def content_of(buffer, stream):
    """The bytes of a buffer, when the stream has come to it."""
    there = bytearray(buffer.size)
    buffer.copy_to(there, stream=stream)
    stream.sync()
    return bytes(there)


@functools.cache
def start_sharing():
    """Let the server begin by which Python hands descriptors on: its socket stays."""
    with open(os.devnull) as some:
        os.close(reduction.DupFd(some.fileno()).detach())


def open_files():
    """What the process has open, but for what comes and goes with its working."""
    start_sharing()
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:  # the listing itself
            continue
    return sorted(found)


def added(before, after):
    """What is open afterwards and was not before; what earlier tests left may have gone since."""
    return list((Counter(after) - Counter(before)).elements())


READERS = {"content_of": content_of, "open_files": open_files}
