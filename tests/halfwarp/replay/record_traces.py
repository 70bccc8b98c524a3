# SPDX-License-Identifier: Apache-2.0
"""Records the logs of this folder: ``python tests/halfwarp/replay/record_traces.py``.

A seed determines every size and time, and addresses, streams and threads are numbered in order
of appearance, so the same files are written each time.
"""

import gzip
import random
from pathlib import Path

from cuda.core import CallbackMemoryResource, Device, LoggingMemoryResource

HERE = Path(__file__).parent
MIB = 1 << 20
HEADER = "time_ns,thread,action,address,size,stream"


class Recorder:
    """A logging resource over addresses without memory, with a clock of its own."""

    def __init__(self, streams):
        self.device = Device(0)
        self.device.set_current()
        self.lines = [HEADER]
        self.now = 0
        self.thread = 1
        self.numbers = {}
        self.last = 0
        nothing = CallbackMemoryResource(self.next_address, lambda *_: None)
        self.resource = LoggingMemoryResource(nothing, self.write)
        self.streams = [self.device.create_stream() for _ in range(streams)]

    def next_address(self, size, stream):
        self.last += 4096
        return self.last

    def write(self, event):
        stream = self.numbers.setdefault(event.stream, 16 * (len(self.numbers) + 1))
        self.lines.append(str(event._replace(time_ns=self.now, thread=self.thread, stream=stream)))

    def allocate(self, size, stream=0):
        self.now += 2_000
        return self.resource.allocate(max(1, int(size)), stream=self.streams[stream])

    def free(self, buffer, stream=None):
        self.now += 1_000
        buffer.close(None if stream is None else self.streams[stream])

    def text(self):
        return "\n".join(self.lines) + "\n"

    def end(self):
        for stream in self.streams:
            stream.close()

    def save(self, name):
        (HERE / name).write_bytes(gzip.compress(self.text().encode(), 9, mtime=0))


def training(recorder, seed=1):
    """Simulate steps of a transformer: weights, activations freed in reverse, workspaces."""
    chance = random.Random(seed)
    layers, width = 12, 512
    weights = [4 * width * width * factor for _ in range(layers) for factor in (3, 1, 4, 4)]
    stays = [recorder.allocate(size) for size in weights]
    stays += [recorder.allocate(size) for size in weights for _ in range(2)]  # Adam's moments
    for _ in range(12):
        length = chance.choice([256, 384, 512, 640, 768, 1024])
        batch = recorder.allocate(8 * length * 8, stream=1)
        activations = []
        for _ in range(layers):
            rows = 4 * length * width
            tensors = [recorder.allocate(rows * factor) for factor in (1, 3, 1, 4)]
            scores = recorder.allocate(4 * 8 * length * length)
            workspace = recorder.allocate(chance.randint(1, 8) * MIB)
            recorder.free(workspace)
            activations.append([*tensors, scores])
            recorder.now += 300_000
        gradients = []
        for i in reversed(range(layers)):
            for buffer in reversed(activations.pop()):
                passing = recorder.allocate(4 * length * width)
                recorder.free(buffer)
                recorder.free(passing)
            gradients += [recorder.allocate(size) for size in weights[4 * i : 4 * i + 4]]
            recorder.now += 600_000
        for gradient in gradients:
            recorder.free(gradient)
        recorder.free(batch, stream=0)
    for buffer in stays:
        recorder.free(buffer)


def inference(recorder, seed=2):
    """Simulate texts that are continued one after the other: each word extends the caches of all
    layers."""
    chance = random.Random(seed)
    layers, width, batch = 8, 2048, 4
    weights = [recorder.allocate(2 * width * width * f) for _ in range(layers) for f in (4, 8)]
    for _ in range(8):
        length = chance.randint(64, 1024)
        tokens = recorder.allocate(8 * batch * length, stream=1)
        caches = []
        for _ in range(layers):
            scores = recorder.allocate(2 * batch * 16 * length * length)
            hidden = [recorder.allocate(2 * batch * length * width * f) for f in (1, 4)]
            caches.append(recorder.allocate(4 * batch * length * width))
            for buffer in (scores, *hidden):
                recorder.free(buffer)
            recorder.now += 400_000
        for word in range(chance.randint(10, 30)):
            for i in range(layers):
                small = recorder.allocate(2 * batch * width * 4)
                longer = recorder.allocate(4 * batch * (length + word + 1) * width)
                recorder.free(caches[i])
                recorder.free(small)
                caches[i] = longer
            recorder.now += 900_000
        for cache in caches:
            recorder.free(cache)
        recorder.free(tokens, stream=0)
    for buffer in weights:
        recorder.free(buffer)


def serving(recorder, seed=3):
    """Simulate a server: requests start and end on two threads, each with a cache that grows by
    blocks."""
    chance = random.Random(seed)
    weights = [recorder.allocate(chance.choice([32, 48, 64, 96]) * MIB) for _ in range(16)]
    running = []
    for _ in range(600):
        recorder.thread = chance.choice([1, 2])
        stream = recorder.thread  # one for each thread
        recorder.now += 500_000
        if len(running) < 24 and chance.random() < 0.25:
            prompt = chance.randint(64, 2048)
            activations = [
                recorder.allocate(prompt * size, stream) for size in (16384, 32768, 8192)
            ]
            blocks = [recorder.allocate(MIB, stream) for _ in range(1 + prompt // 256)]
            running.append([stream, chance.randint(8, 40), blocks])
            for buffer in activations:
                recorder.free(buffer)
        for request in running:
            if chance.random() < 0.1:
                request[2].append(recorder.allocate(MIB, request[0]))
            request[1] -= 1
        for request in [each for each in running if each[1] <= 0]:
            running.remove(request)
            for block in request[2]:
                recorder.free(block)
    for request in running:
        for block in request[2]:
            recorder.free(block)
    for buffer in weights:
        recorder.free(buffer)


TRACES = (("training", training, 2), ("inference", inference, 2), ("serving", serving, 3))


def main():
    for name, record, streams in TRACES:
        recorder = Recorder(streams)
        record(recorder)
        recorder.end()
        recorder.save(f"{name}.csv.gz")


if __name__ == "__main__":
    main()
