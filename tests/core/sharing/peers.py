# SPDX-License-Identifier: Apache-2.0
"""Another process to share with: it executes the source that it receives, and answers."""

import multiprocessing
import os
import signal
import traceback
from collections import Counter
from multiprocessing import resource_sharer

PATIENCE = 60  # seconds without an answer after which a peer is considered stuck


class PeerError(Exception):
    """The traceback of an exception in the peer."""


class Peer:
    """A process with a device, a stream and the objects that it receives."""

    def __init__(self, method="spawn"):
        context = multiprocessing.get_context(method)
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def run(self, source, **objects):
        """Execute source in the peer, with objects by name, and return its `result`."""
        self.send(source, **objects)
        return self.receive()

    def send(self, source, **objects):
        self.pipe.send((source, objects))

    def receive(self):
        if not self.pipe.poll(PATIENCE):
            raise TimeoutError("the peer does not answer")
        succeeded, answer = self.pipe.recv()
        if not succeeded:
            raise PeerError(answer)
        return answer

    def end(self):
        """Let the process end, and return its exit status."""
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
            source, objects = pipe.recv()
        except EOFError:
            break
        except BaseException:
            pipe.send((False, traceback.format_exc()))
            continue
        names |= objects
        names["result"] = None
        try:
            exec(source, names)
            pipe.send((True, names["result"]))
        except BaseException:
            pipe.send((False, traceback.format_exc()))
        objects = None


def content_of(buffer, stream):
    """Return the bytes of a buffer, in the order of the stream."""
    content = bytearray(buffer.size)
    buffer.copy_to(content, stream=stream)
    stream.sync()
    return bytes(content)


def open_files():
    """Return the open files of this process after Python has passed on all that was sent.

    Python's server that passes descriptors on closes its copy after the receiver has its own.
    Stopping the server waits for that; the next descriptor that is sent starts it again.
    """
    resource_sharer.stop()
    return files_now()


def files_now():
    """Return the open files of this process, with those that Python has yet to pass on."""
    paths = []
    for number in os.listdir("/proc/self/fd"):
        try:
            paths.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:  # the listing itself
            continue
    return sorted(paths)


def added(before, after):
    """Return the files opened since `before`; files of earlier tests may have been closed."""
    return list((Counter(after) - Counter(before)).elements())


READERS = {"content_of": content_of, "open_files": open_files}
