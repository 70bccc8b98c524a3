# SPDX-License-Identifier: Apache-2.0
"""Private helpers under the paths that existing code imports them from."""

from importlib import import_module


def __getattr__(name):
    return getattr(import_module("cuda.core._utils.cuda_utils"), name)
