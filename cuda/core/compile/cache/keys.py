# SPDX-License-Identifier: Apache-2.0
"""The key of a compilation: a digest of all inputs that determine its result."""

from __future__ import annotations

import functools
import marshal
import os
from operator import itemgetter

from cuda.bindings import _low
from cuda.core.arguments.shown import shown
from cuda.core.compile.cache.fingerprints import driver_version as _driver_version
from cuda.core.compile.cache.fingerprints import linker_is_driver, nvjitlink_version
from cuda.core.compile.cache.fingerprints import nvrtc_version as _nvrtc_version
from cuda.core.compile.cache.fingerprints import nvvm_fingerprint as _nvvm_fingerprint
from cuda.core.compile.cache.sha256 import sha256
from cuda.core.compile.program_options import ProgramOptions

TYPE_CHECKING = False  # the import of `typing` takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

_KEY_SCHEMA_VERSION = 4  # change it with the parts of the key

# Code type: targets, in the order of messages.
TARGETS = {
    "c++": ("cubin", "ltoir", "ptx", "tile_ir"),
    "nvvm": ("ltoir", "ptx"),
    "ptx": ("cubin", "ptx"),
}
ALL_TARGETS = TARGETS["c++"]

SIDE_EFFECTS = ("create_pch", "time", "fdevice_time_trace")
EXTERNAL_FILES = ("include_path", "pre_include", "pch", "use_pch", "pch_dir")
_suspects = itemgetter("extra_sources", *SIDE_EFFECTS, *EXTERNAL_FILES)
_NO_SUSPECTS = (None,) * (1 + len(SIDE_EFFECTS) + len(EXTERNAL_FILES))

# The options that a linker receives from a PTX program, by their rule of equality.
_TRUTH = ("debug", "lineinfo", "link_time_optimization", "no_cache")
_IS_SET = ("time",)
_VALUES = ("arch", "max_register_count", "split_compile")
_NVJITLINK_ONLY = ("ftz", "prec_div", "prec_sqrt", "fma")
_REFUSED_BY_DRIVER = ("time", "ptxas_options", "split_compile")


def make_program_cache_key(
    *,
    code: str | bytes,
    code_type: str,
    options: ProgramOptions,
    target_type: str,
    name_expressions: Sequence[str | bytes] = (),
    extra_digest: bytes | None = None,
    extra_files: Sequence[str | os.PathLike[str]] = (),
) -> bytes:
    """Return the key of a compilation in a program cache; equal keys imply equal results.

    Host only. The key depends on the source, the options, the target and the compiler's version.
    All processes compute the same key.

    Parameters
    ----------
    code : str or bytes
        Source code; bytes for NVVM IR only.
    code_type : str or SourceCodeType
        As for `Program`.
    options : ProgramOptions or dict
        As for `Program`.
    target_type : str or ObjectCodeFormatType
        As for `Program.compile`.
    name_expressions : sequence of str or bytes, optional
        As for `Program.compile`, in any order.
    extra_digest : bytes, optional
        Digest of other inputs of the compilation, for example headers.
    extra_files : sequence of str or PathLike, optional
        Files that the compilation reads, as an alternative or addition to `extra_digest`. Their
        names without folders and their contents become part of the key.

    Returns
    -------
    bytes
        The key, 32 bytes.

    Raises
    ------
    ValueError
        If the compiler does not support the target. If options have side effects that a cache hit
        would skip (`create_pch`, `time`, `fdevice_time_trace`). If the compilation reads files and
        neither `extra_digest` nor `extra_files` is set.
    TypeError
        If an argument has the wrong type.
    """
    options = _checked_options(options)
    code_type, target = _checked_types(code_type, target_type)
    if extra_files != () and isinstance(extra_files, str | bytes | os.PathLike):
        raise TypeError(f"extra_files must be a sequence of paths: write ({shown(extra_files)},)")
    _check_cacheable(code_type, options, extra_digest is not None or len(extra_files) > 0)
    texts = (
        f"halfwarp {_KEY_SCHEMA_VERSION}",
        _compiler(code_type),
        code_type,
        target,
        _code_bytes(code, code_type),
        tuple(_option_parts(options, code_type, target)),
        str(options.name),
        # The emulator's cubins contain the PTX that it executes, so they differ from a GPU's.
        "emulator" if target == "cubin" and _low.is_emulated() else None,
        None if extra_digest is None else _digest_bytes(extra_digest),
    )
    lists = (
        None if name_expressions == () else _names(name_expressions, code_type),
        options._prepare_extra_sources_bytes() or [] if code_type == "nvvm" else None,
        [_file_digest(path) for path in extra_files] if extra_files else None,
    )
    if lists == _NO_LISTS and len(code) <= _SHORT:
        return _kept_digest(texts)
    return _digest(texts, *lists)


def _digest(texts, names=None, sources=None, files=None):
    *first, options, name, emulator, extra_digest = texts
    parts = (*first, list(options), names, sources, name, emulator, extra_digest, files)
    # Version 2 of the format writes lengths and ignores which objects are shared.
    return sha256(marshal.dumps(parts, 2)).digest()


# Programs that compile the same source repeatedly compute its digest once.
_kept_digest = functools.lru_cache(maxsize=64)(_digest)
_NO_LISTS = (None, None, None)
_SHORT = 8192  # characters of the longest source with a kept digest


def _compiler(code_type):
    """Return a text that identifies the compiler and its version.

    If the query fails, the text names the class of the error: it is stable and never equals a
    working library's text. Failures are not cached.
    """
    try:
        match code_type:
            case "c++":
                return _nvrtc_text(_nvrtc_version())
            case "nvvm":
                return f"NVVM {_nvvm_fingerprint()}"
        return " ".join(_linker_backend_and_version(linker_is_driver()))
    except Exception as error:  # compilation reports the library's problem
        return f"{code_type} unknown: {type(error).__name__}"


@functools.cache
def _nvrtc_text(version):
    return f"NVRTC {version}"


def _linker_backend_and_version(use_driver):
    """Return the name and the version of the library that links."""
    return ("driver", str(_driver_version())) if use_driver else ("nvJitLink", nvjitlink_version())


def _checked_options(options):
    if type(options) is ProgramOptions:
        return options
    if isinstance(options, dict):
        return ProgramOptions(**options)
    if not isinstance(options, ProgramOptions):
        raise TypeError(
            "options must be provided as an object of type ProgramOptions or as a dict, "
            f"got {type(options).__name__}"
        )
    return options


def _checked_types(code_type, target_type):
    if type(code_type) is type(target_type) is str and target_type in TARGETS.get(code_type, ()):
        return code_type, target_type
    name = str(code_type).lower()
    if name not in TARGETS:
        raise ValueError(
            f"{shown(code_type)} is not a valid SourceCodeType. Must be 'c++', 'nvvm' or 'ptx'"
        )
    target = str(target_type).lower()
    if target not in ALL_TARGETS:
        raise ValueError(
            f"target_type={shown(target_type)} is not supported by the program cache "
            "(must be 'cubin', 'ltoir' or 'ptx', or 'tile_ir' for C++)"
        )
    if target not in TARGETS[name]:
        raise ValueError(
            f"target_type={shown(target)} is not valid for code_type={name!r} "
            f"(supported: {list(TARGETS[name])!r})"
        )
    return name, target


def _code_bytes(code, code_type):
    if isinstance(code, str):
        return code.encode()
    if not isinstance(code, bytes | bytearray):
        raise TypeError(f"code must be str or bytes, got {type(code).__name__}")
    if code_type != "nvvm":
        raise TypeError(
            f"code must be str for code_type={code_type!r}; bytes are for code_type='nvvm' only"
        )
    return bytes(code)


def _check_cacheable(code_type, options, has_digest):
    """Reject compilations whose result the source and the options do not determine."""
    if code_type == "c++" and not _has_suspects(options):
        return _check_folder(options, has_digest)
    if code_type != "nvvm" and options.extra_sources is not None:
        raise ValueError(f"extra_sources is only valid for code_type='nvvm', not for {code_type!r}")
    if code_type == "nvvm" and options.use_libdevice and not has_digest:
        raise ValueError(
            "make_program_cache_key() refuses to build an NVVM key with use_libdevice=True and no "
            "extra_digest: libdevice, which is linked, may change"
        )
    if code_type != "c++":
        return
    if effects := [name for name in SIDE_EFFECTS if getattr(options, name) is not None]:
        raise ValueError(
            "make_program_cache_key() refuses to build a key for options that have compile-time "
            f"side effects ({', '.join(effects)}): a hit compiles nothing and would skip them. "
            "Compile without a cache"
        )
    if has_digest:
        return
    if external := [name for name in EXTERNAL_FILES if _reads_files(name, options)]:
        raise ValueError(
            "make_program_cache_key() refuses to build a key for options that pull in external "
            f"file content ({', '.join(external)}) without an extra_digest: pass a digest of the "
            "files, or the files as extra_files"
        )
    return _check_folder(options, has_digest)


def _has_suspects(options):
    """Return whether a field is set that `_check_cacheable` checks; in doubt True."""
    try:
        return _suspects(options.__dict__) != _NO_SUSPECTS
    except KeyError:  # a field was deleted
        return True


def _check_folder(options, has_digest):
    if not has_digest and ("/" in options.name or "\\" in options.name):
        raise ValueError(
            "make_program_cache_key() refuses to build a key for "
            f"options.name={options.name!r}, which has a directory component, without an "
            "extra_digest: the compiler looks for quoted includes in that directory"
        )


def _reads_files(name, options):
    value = getattr(options, name)
    if value is None:
        return False
    if name in ("include_path", "pre_include") and isinstance(value, list | tuple):
        return bool(value)
    return bool(value) if name == "pch" else True


def _option_parts(options, code_type, target):
    if code_type != "ptx":
        return options.as_bytes("nvrtc" if code_type == "c++" else "nvvm", target)
    return [f"{name}={value!r}".encode() for name, value in _link_options(options)]


def _link_options(options):
    """Return a PTX program's options for the linker in normalized form."""
    normalized = {name: True for name in _TRUTH if getattr(options, name)}
    normalized |= {name: True for name in _IS_SET if getattr(options, name) is not None}
    values = _VALUES
    if linker_is_driver():
        if wrong := [name for name in _REFUSED_BY_DRIVER if getattr(options, name) is not None]:
            raise ValueError(
                f"the cuLink driver linker does not support these options: {', '.join(wrong)}. "
                "The driver links because nvJitLink is missing"
            )
    else:
        values += _NVJITLINK_ONLY
    for name in values:
        if (value := getattr(options, name)) is not None:
            normalized[name] = bool(value) if name in _NVJITLINK_ONLY else value
    assembler = options.ptxas_options
    if assembler:
        many = isinstance(assembler, list | tuple)
        texts = assembler if many else [assembler]
        normalized["ptxas_options"] = [os.fspath(text) for text in texts]
    return sorted(normalized.items())


def _names(expressions, code_type):
    """Return sorted name expressions as bytes; str and bytes of a text differ."""
    if code_type != "c++":
        return None
    if isinstance(expressions, str | bytes):
        raise TypeError(
            f"name_expressions must be a tuple or list of str or bytes: write ({expressions!r},)"
        )
    parts = []
    if expressions is not None and not hasattr(type(expressions), "__iter__"):
        raise TypeError(
            "name_expressions must be a tuple or list of str or bytes, got "
            f"{type(expressions).__name__}"
        )
    for each in expressions or ():
        if not isinstance(each, str | bytes):
            raise TypeError(
                f"name_expressions elements must be str or bytes; got {type(each).__name__}"
            )
        parts.append(b"str " + each.encode() if isinstance(each, str) else b"bytes " + each)
    return sorted(parts) or None


def _digest_bytes(value):
    if not isinstance(value, bytes | bytearray | memoryview):
        raise TypeError(f"extra_digest must be bytes, got {type(value).__name__}")
    return bytes(value)


def _file_digest(path):
    with open(path, "rb") as file:
        content = file.read()
    name = os.path.basename(os.fsencode(path))
    return sha256(b"%d:%s" % (len(name), name) + content).digest()


make_program_cache_key.__module__ = "cuda.core.utils"
