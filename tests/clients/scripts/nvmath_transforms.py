# SPDX-License-Identifier: Apache-2.0
"""nvmath-python: a matrix product with an epilog on cuBLASLt, and a Fourier transform on cuFFT."""

import numpy as np
import nvmath
from nvmath.linalg.advanced import MatmulEpilog

rng = np.random.default_rng(1)
a = rng.standard_normal((64, 96), dtype=np.float32)
b = rng.standard_normal((96, 32), dtype=np.float32)
bias = rng.standard_normal((64, 1), dtype=np.float32)
product = nvmath.linalg.advanced.matmul(
    a, b, epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias}
)
expected = np.maximum(a.astype(np.float64) @ b + bias, 0.0)
assert product.shape == (64, 32)
error = np.abs(product - expected).max()
assert error < 1e-2, error

signal = rng.standard_normal(1000) + 1j * rng.standard_normal(1000)
spectrum = nvmath.fft.fft(signal, execution="cuda")
assert np.allclose(spectrum, np.fft.fft(signal))
assert np.allclose(nvmath.fft.ifft(spectrum, execution="cuda") / signal.size, signal)
print(f"nvmath: product {product.shape}, transform of {spectrum.size} values")
