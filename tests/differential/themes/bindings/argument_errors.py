# SPDX-License-Identifier: Apache-2.0
"""What each function of the low layer raises for arguments that it cannot take."""

import inspect

from cuda.bindings import driver, nvrtc
from describing import Names


def functions():
    """Every function that has parameters, with how many."""
    for module, prefix in ((driver, "cu"), (nvrtc, "nvrtc")):
        for name in dir(module):
            function = getattr(module, name)
            if name.startswith(prefix) and not isinstance(function, type) and callable(function):
                count = len(inspect.signature(function).parameters)
                if count:
                    yield name, function, count


def outcomes(call):
    """For each function, the name of what `call` makes it raise."""
    found = set()
    for name, function, count in functions():
        try:
            call(function, count)
        except Exception as error:
            found.add(f"{name}:{type(error).__name__}")
        else:
            found.add(f"{name}:nothing")
    return Names(found)


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
