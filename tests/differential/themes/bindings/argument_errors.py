# SPDX-License-Identifier: Apache-2.0
"""Exceptions of each function of the low layer for invalid arguments."""

import inspect

from cuda.bindings import driver, nvrtc
from describing import Names


def functions():
    """Return every function that has parameters, with their number."""
    for module, prefix in ((driver, "cu"), (nvrtc, "nvrtc")):
        for name in dir(module):
            function = getattr(module, name)
            if name.startswith(prefix) and not isinstance(function, type) and callable(function):
                count = len(inspect.signature(function).parameters)
                if count:
                    yield name, function, count


def outcomes(call):
    """Return, for each function, the name of the exception that `call` raises."""
    result = set()
    for name, function, count in functions():
        try:
            call(function, count)
        except Exception as error:
            result.add(f"{name}:{type(error).__name__}")
        else:
            result.add(f"{name}:nothing")
    return Names(result)


def names_of_parameters():
    return Names(
        f"{name}({','.join(inspect.signature(function).parameters)})"
        for name, function, _ in functions()
    )


CASES = [
    names_of_parameters,
    lambda: outcomes(lambda function, count: function(*[object()] * count)),
    lambda: outcomes(lambda function, count: function(*[[]] * count)),
    lambda: outcomes(lambda function, count: function(*[{}] * count)),
    lambda: outcomes(lambda function, count: function(*[("a",)] * count)),
    lambda: outcomes(lambda function, count: function(*[object()] * (count + 1))),
    lambda: outcomes(lambda function, count: function(unknown=1)),
]
