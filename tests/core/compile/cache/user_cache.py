# SPDX-License-Identifier: Apache-2.0
"""A program cache that a user implements."""

from cuda.core import ObjectCode
from cuda.core.utils import ProgramCacheResource


class MinimalCache(ProgramCacheResource):
    """The minimum that a user implements; counts the calls."""

    def __init__(self):
        self.entries, self.calls = {}, []

    def __getitem__(self, key):
        self.calls.append("get")
        return self.entries[key]

    def __setitem__(self, key, value):
        self.calls.append("set")
        self.entries[key] = value.code if isinstance(value, ObjectCode) else value

    def __delitem__(self, key):
        del self.entries[key]

    def __len__(self):
        return len(self.entries)

    def clear(self):
        self.entries.clear()
