# SPDX-License-Identifier: Apache-2.0
"""Describes each function and each parameter of the low layer in one sentence, by family."""

from .functions import sentence_of
from .parameters import phrases_of, section_of, status_check_text

__all__ = ["phrases_of", "section_of", "sentence_of", "status_check_text"]
