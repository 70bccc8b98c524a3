# SPDX-License-Identifier: Apache-2.0
"""Computes in NumPy and double precision what the kernels of Triton and numba compute.

Run: ``python references.py FOLDER``, on the emulator. Each reference gets the buffers of a case.
"""

import json
import math
import sys
from pathlib import Path

import driver
import numpy as np


def rows(b):
    return b[0] - b[0].mean(1, keepdims=True)


def layernorm(b):
    deviation = np.sqrt(b[0].var(1, keepdims=True) + 1e-5)
    return [rows(b) / deviation * b[1] + b[2], b[0].mean(1), 1 / deviation[:, 0]]


def layernorm_back(b):
    gradient, x, weight = b[:3]
    scale = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    h = (x - x.mean(1, keepdims=True)) * scale
    g = weight * gradient
    mean = (h * g).mean(1, keepdims=True)
    return [(g - h * mean - g.mean(1, keepdims=True)) * scale, (gradient * h).sum(0)]


def attention(b, causal=False, scale=0.125):
    scores = b[0] @ b[1].transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:])), scores, -np.inf)
    logarithm = np.log(np.exp(scores).sum(2))
    return [np.exp(scores - logarithm[..., None]) @ b[2], logarithm]


def attention_gradients(b, scale=0.125):
    q, k, v, g, logarithm, delta = b[:6]
    p = np.exp(q @ k.transpose(0, 2, 1) * scale - logarithm[..., None])
    return p, p * (g @ v.transpose(0, 2, 1) - delta[..., None]) * scale


def attention_dkdv(b):
    p, ds = attention_gradients(b)
    return [ds.transpose(0, 2, 1) @ b[0], p.transpose(0, 2, 1) @ b[3]]


def rotary(b):
    left, right = b[0][:, :64], b[0][:, 64:]
    turned = left * b[1] - right * b[2], left * b[2] + right * b[1]
    return [np.concatenate(turned, 1)]


def mandelbrot(height=32, width=48, limit=50):
    counts = np.zeros((height, width))
    for i, j in np.ndindex(height, width):
        c, z = complex(-2 + 3.0 * j / width, -1 + 2.0 * i / height), 0j
        while counts[i, j] < limit and z.real * z.real + z.imag * z.imag <= 4:
            z = complex(z.real**2 - z.imag**2 + c.real, 2 * z.real * z.imag + c.imag)
            counts[i, j] += 1
    return [counts]


def votes(b):
    positive = b[0].reshape(2, 32) > 0
    ballots = [sum(1 << k for k in range(31) if warp[k]) for warp in positive]
    columns = ballots, positive.any(1), positive.all(1), [32, 32]
    return [np.stack([np.repeat(np.array(c, float), 32) for c in columns], 1)]


def bits(b):
    def of(value):
        mirrored = int(f"{value:032b}"[::-1], 2)
        signed = mirrored - (1 << 32) if mirrored >> 31 else mirrored
        low = (value & -value).bit_length()
        return [value.bit_count(), signed, 32 - value.bit_length(), low]

    return [np.array([of(int(value)) for value in b[0]])]


def functions(b):
    x = b[0]
    special = np.vectorize(math.erf)(x), np.arctan2(x, 0.5), np.vectorize(math.gamma)(x + 3)
    plain = np.sin(x), np.exp(x), np.log(abs(x) + 1), np.sqrt(abs(x)), np.tanh(x)
    return [np.stack([*plain, *special], 1)]


def divisions(b):
    x, y = b[0].astype(int), b[1].astype(int)
    divisor = np.where(y == 0, 1, y)
    shifted = x >> (np.arange(128) % 8)
    table = np.stack([x // divisor, x % divisor, shifted, (x ^ y) & 255], 1)
    return [np.where(y[:, None] != 0, table, 0)]


def nbody(b):
    apart = b[0][None] - b[0][:, None]
    distance = (apart**2).sum(2) + 0.01
    return [b[1] + 0.01 * (apart / distance[..., None] ** 1.5).sum(1)]


def stencil(b):
    x = b[0]
    inner = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return [np.pad(0.25 * inner, 1)]


def local_array(b):
    weights = [sum(((k * 3 + i) % 8 + 1) * k for k in range(8)) for i in range(64)]
    return [b[0] * np.array(weights)]


def convolution(b):
    return [np.convolve(np.append(b[0], np.zeros(6)), b[1][::-1], "valid")]


def dropout(b):
    passed = b[-1] != 0  # the output
    return [np.where(passed, b[0] / 0.7, 0) if 0.6 < passed.mean() < 0.8 else np.full(1000, np.nan)]


def quantize(b):
    scale = np.abs(b[0]).max(1) / 127
    return [np.rint(b[0] / scale[:, None]), scale]


REFERENCES = {
    "add": lambda b: [b[0] + b[1]],
    "argmax": lambda b: [b[0].argmax(1), b[0].max(1)],
    "atomics": lambda b: [[b[0].max()], [b[0].min()], [125] * 4],
    "attention": attention,
    "attention_causal": lambda b: attention(b, causal=True),
    "attention_dkdv": attention_dkdv,
    "attention_dq": lambda b: [attention_gradients(b)[1] @ b[1]],
    "axpy": lambda b: [2.5 * b[0] + b[1]],
    "bits": bits,
    "compare_and_swap": lambda b: [[4], [7] + [0] * 7],
    "convolution": convolution,
    "cross_entropy": lambda b: [np.log(np.exp(b[0]).sum(1)) - b[0][np.arange(5), b[1].astype(int)]],
    "cumsum": lambda b: [np.cumsum(b[0].reshape(2, -1), 1).reshape(b[0].shape)],
    "divisions": divisions,
    "dropout": dropout,
    "embedding": lambda b: [b[1][b[0].astype(int)]],
    "functions": functions,
    "gelu": lambda b: [0.5 * b[0] * (1 + np.vectorize(math.erf)(b[0] * 0.70710678))],
    "histogram": lambda b: [np.bincount(b[0].astype(int), minlength=b[1].size)],
    "layernorm": layernorm,
    "layernorm_back": layernorm_back,
    "local_array": local_array,
    "mandelbrot": lambda b: mandelbrot(),
    "nbody": nbody,
    "product": lambda b: [b[0] @ b[1]],
    "product_nt": lambda b: [b[0] @ b[1].T],
    "quantize": quantize,
    "reduce": lambda b: [[part.sum() for part in np.split(b[0], [128, 256, 384])]],
    "rmsnorm": lambda b: [b[0] / np.sqrt((b[0] ** 2).mean(1, keepdims=True) + 1e-5) * b[1]],
    "rotary": rotary,
    "softmax": lambda b: [np.exp(b[0]) / np.exp(b[0]).sum(1, keepdims=True)],
    "sort": lambda b: [np.sort(b[0], 1)],
    "stencil": stencil,
    "transpose": lambda b: [b[0].T],
    "variance": lambda b: [b[0].var(1)],
    "votes": votes,
    "warp_sums": lambda b: [b[0].reshape(8, 32).sum(1)],
}


def decoded(array, dtype):
    """Return the numbers of a buffer as doubles."""
    if dtype == "bf16":
        return (array.astype("u4") << 16).view("f4").astype("f8")
    if dtype != "e4m3":
        return array.astype("f8")
    exponent, fraction = (array >> 3 & 15).astype(int), (array & 7) / 8
    size = np.where(exponent == 0, fraction * 2.0**-6, (1 + fraction) * 2.0 ** (exponent - 7.0))
    return np.where(array & 128, -size, size)


def verdict(case, folder):
    """Run a case and return its verdict and the largest deviation."""
    kinds = [buffer["dtype"] for buffer in case["buffers"] if buffer["is_output"]]
    outputs = [decoded(*pair) for pair in zip(driver.run(case, folder), kinds, strict=True)]
    inputs = [
        decoded(driver.generate(buffer, case["seed"] * 100 + n), buffer["dtype"])
        for n, buffer in enumerate(case["buffers"])
    ]
    inputs.append(outputs[0])
    worst = 0.0
    expected = [np.asarray(e, float) for e in REFERENCES[case["reference"]](inputs)]
    for output, reference in zip(outputs, expected, strict=True):
        deviation = np.abs(output - reference) / np.maximum(1, np.abs(reference))
        worst = max(worst, float(np.nan_to_num(deviation, nan=np.inf).max()))
    return ("right" if worst <= case["tolerance"] else "wrong"), worst


def main(folder):
    driver.start()
    for case in json.loads((Path(folder) / "cases.json").read_text()):
        try:
            result, worst = verdict(case, folder)
        except driver.CallError as error:
            result, worst = "refused", error
        print("CASE", case["family"], case["name"], result, worst, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
