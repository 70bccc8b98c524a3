# SPDX-License-Identifier: Apache-2.0
"""Describes each function and each parameter of the low layer in one sentence, by family."""

from .functions import sentence_of
from .parameters import phrase_of

__all__ = ["phrase_of", "sentence_of"]
