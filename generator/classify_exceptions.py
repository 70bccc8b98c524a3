# SPDX-License-Identifier: Apache-2.0
"""Heuristics for libraries whose functions raise: the role of a C parameter.

`classify` uses objects for handles and structs; these libraries use plain addresses, texts, and
buffers of the caller. No rule names a function.
"""

from __future__ import annotations

import re

from .classify import COUNTERS, Classifier, View
from .facts import FactFunction

SIZE = re.compile(r"(size|length|len|\w*(Size|Length))$")
OPTIONS_COUNT = re.compile(r"(num\w*|\w*Count)$")
DESTROYS = re.compile(r"Destroy|Close")


class ExceptionsClassifier(Classifier):
    def classify(self, function: FactFunction, comment: str) -> None:
        views = self.views(function, comment)
        for i, param in enumerate(function.params):
            param.kind = self.role_of(function.name, views, i)

    def role_of(self, function: str, views: list[View], i: int) -> str:
        view = views[i]
        if view.stars == 0 or "(*" in view.spelling:
            return "in"
        if view.kind in ("void", "char"):
            return self.memory(views, i)
        if view.is_const:
            return "in"
        if view.kind == "handle" and DESTROYS.search(function):
            return "ptr"
        return "out"

    def memory(self, views: list[View], i: int) -> str:
        """The role of a text, a buffer or a list of texts."""
        view = views[i]
        size = following_size(views, i)
        if view.stars == 2:
            count = beside(views, i)
            return f"list[{count}]" if count and view.kind == "char" else "out"
        if view.is_const:
            return f"buffer[{size}]" if size else "in"
        if view.kind == "char" and size:
            return f"out text[{size}]"
        return f"out buffer[{size}]" if size else "out buffer"


def following_size(views: list[View], i: int) -> str:
    """The name of the next parameter, if it is the size of this one."""
    following = views[i + 1] if i + 1 < len(views) else None
    if following and following.stars == 0 and following.base in COUNTERS:
        return following.name if SIZE.match(following.name) else ""
    return ""


def beside(views: list[View], i: int) -> str:
    """The name of the next or previous parameter, if it counts the elements of this one."""
    for view in (*views[i + 1 : i + 2], *views[max(i - 1, 0) : i]):
        if view.stars == 0 and view.kind == "scalar" and OPTIONS_COUNT.match(view.name):
            return view.name
    return ""
