# SPDX-License-Identifier: Apache-2.0
"""Enums of the low layer: look-up, identity, aliases, text."""

import pickle

from cuda.bindings import driver as d

E = d.CUresult
A = d.CUdevice_attribute

CASES = [
    lambda: E.CUDA_SUCCESS,
    lambda: str(E.CUDA_SUCCESS),
    lambda: format(E.CUDA_ERROR_INVALID_VALUE),
    lambda: format(E.CUDA_ERROR_INVALID_VALUE, "d"),
    lambda: "%d" % E.CUDA_ERROR_INVALID_VALUE,  # noqa: UP031
    lambda: E(1) is E.CUDA_ERROR_INVALID_VALUE,
    lambda: E(E.CUDA_ERROR_INVALID_VALUE) is E.CUDA_ERROR_INVALID_VALUE,
    lambda: E(123456),
    lambda: E("x"),
    lambda: E(None),
    lambda: E(),
    lambda: E(1.0),
    lambda: E(True),
    lambda: E.MISSING,
    lambda: E.CUDA_ERROR_INVALID_VALUE.name,
    lambda: E.CUDA_ERROR_INVALID_VALUE.value,
    lambda: type(E.CUDA_ERROR_INVALID_VALUE.value),
    lambda: isinstance(E.CUDA_SUCCESS, int),
    lambda: isinstance(E.CUDA_SUCCESS, E),
    lambda: E.CUDA_SUCCESS == 0,
    lambda: E.CUDA_ERROR_INVALID_VALUE + 1,
    lambda: E.CUDA_ERROR_INVALID_VALUE | 2,
    lambda: type(E.CUDA_ERROR_INVALID_VALUE + 1),
    lambda: hash(E.CUDA_ERROR_INVALID_VALUE) == hash(1),
    lambda: bool(E.CUDA_SUCCESS),
    lambda: len(E),
    lambda: [each.name for each in E][:5],
    lambda: list(E) == list(E.__members__.values()),
    lambda: E.CUDA_SUCCESS in E,
    lambda: 1 in E,
    lambda: 123456 in E,
    lambda: "x" in E,
    lambda: len(E.__members__),
    lambda: list(E.__members__)[:3],
    lambda: len(A),
    lambda: len(A.__members__),
    lambda: len(d.CUctx_flags),
    lambda: d.CUctx_flags(4),
    lambda: d.CUctx_flags.CU_CTX_BLOCKING_SYNC is d.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC,
    lambda: E["CUDA_SUCCESS"],
    lambda: pickle.loads(pickle.dumps(E.CUDA_ERROR_INVALID_VALUE)) is E.CUDA_ERROR_INVALID_VALUE,
    lambda: setattr(E, "CUDA_SUCCESS", 3),
    lambda: setattr(E.CUDA_SUCCESS, "name", "x"),
    lambda: bool(E.CUDA_ERROR_INVALID_VALUE.__doc__),
    lambda: {1: 2}[E.CUDA_ERROR_INVALID_VALUE],
    lambda: repr(E),
    lambda: E.__name__,
    lambda: E.__module__,
    lambda: [base.__name__ for base in E.__mro__[:3]],
    lambda: type(E).__name__,
    lambda: sorted([E(2), E(1)]),
    lambda: d.CUlimit(0),
    lambda: d.CUmemLocationType(1),
    lambda: {each.name: each.value for each in d.CUmemAllocationHandleType},
    lambda: {each.name: each.value for each in d.CUjit_option},
    lambda: {each.name: each.value for each in d.CUpointer_attribute},
]
