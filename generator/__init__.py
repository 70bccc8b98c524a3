# SPDX-License-Identifier: Apache-2.0
"""The open generator: CUDA headers -> facts (api/) -> the low layer of halfwarp."""
