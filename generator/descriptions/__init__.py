# SPDX-License-Identifier: Apache-2.0
"""One sentence for each function of the low layer and for each of its parameters, by family."""

from .functions import sentence_of
from .parameters import phrase_of

__all__ = ["phrase_of", "sentence_of"]
