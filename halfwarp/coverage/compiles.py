# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of NVRTC a second time with marks, for the emulator to execute."""

import json
import os
import re
import sys
import threading
from dataclasses import dataclass

from halfwarp.coverage.marks import DECLARATION, MarkedText
from halfwarp.coverage.origins import SUFFIXES

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_FOLDER = re.compile(r"(?:-I|--include-path=|-include-path=)(.*)", re.DOTALL)
# Options that write files, or read a compiled header, which holds no marks.
_WITHOUT = re.compile(r"--?(?:pch|create-pch|use-pch|pch-|time|fdevice-time-trace)")
_TARGET = re.compile(r"((?:--gpu-architecture=|-arch=)?)sm_(\d+[af]?)")
_ROUNDED = re.compile(r"\b(fma|mad|mul|add|sub)\.(?:\w+\.)*(?:f16x2|bf16x2|f16|bf16|f32|f64)\b")
_LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")


@dataclass(slots=True)
class FilePlace:
    """Lines and branches of files that a place covers, and its marks by number."""

    terms: dict
    lines: set  # (path, line)
    arcs: set  # (path, line, line)
    is_selected: bool = False  # the optimizer may execute it without its condition


class Compiles:
    """Receives the compiled programs from the emulator."""

    count = 0  # of marks; kernels of an earlier record may still execute theirs

    def __init__(self, origins):
        import ctypes

        from cuda.core.emulation import library

        self.origins = origins
        self.notes = {}  # ordered
        self._lock = threading.Lock()
        self.places = []
        self._files, self._reported = set(), set()
        self.emulator = library.load()
        self._texts, self._places = {}, {}  # by text: with marks; (path, line) by line
        self.by_name = {}  # places of the program with a name
        self.plain = {}  # hash of PTX without marks -> name and places of its program
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
        self._observer = kind(self._receive)
        self._none = kind()
        self.emulator.halfwarp_emulator_observe_compiles(self._observer)

    def close(self):
        self.emulator.halfwarp_emulator_observe_compiles(self._none)

    def new_files(self):
        """Return the files of programs that were compiled since the last call."""
        new = self._files - self._reported
        self._reported |= new
        return new

    def _receive(self, address, size):
        import ctypes

        try:
            record = ctypes.string_at(address, size).decode("utf-8", "surrogateescape")
            self._compile(json.loads(record))
        except Exception as error:  # a program without coverage still works
            print(f"halfwarp: coverage of a kernel is missing: {error!r}", file=sys.stderr)

    def _compile(self, program):
        options = [
            _TARGET.sub(r"\1compute_\2", each)  # only PTX is used, so NVRTC needs no cubin
            for each in program["options"]
            if not _WITHOUT.match(each)
        ]
        if not any("lineinfo" in each or "line-info" in each for each in options):
            options.append("-lineinfo")
        with self._lock:
            text = self._marked(program["text"], program["name"])
            headers = self._headers(program, options)
        original = program["ptx"]
        # LTO-IR has no PTX: the linker reports its lines.
        if not original or not (text or headers):
            return
        marked = _compile(program, DECLARATION + (text or program["text"]), headers, options)
        if marked is None or _contracts(marked) or _contracts(original):
            has_lines = ".loc" in original  # NVRTC adds them while programs are observed
            plain = original if has_lines else _compile(program, program["text"], {}, options)
            if plain is not None and (marked is None or not rounds_alike(marked, plain)):
                marked = self._without_marks(program, plain)
        if marked is not None and marked != original:
            self.emulator.halfwarp_emulator_substitute_ptx(_bytes(original), _bytes(marked))

    def _without_marks(self, program, ptx):
        """Return PTX without marks, and note that the line table supplies its lines."""
        places = self._places.get(program["text"], {})
        self.plain[hash(ptx.rstrip("\0\n"))] = program["name"], places
        reason = "the text with marks does not compile, or rounds differently"
        note = f"program {program['name']}: its coverage is from the line table, since {reason}"
        self.notes[note] = None
        return ptx

    # ---- marks
    def add_mark(self, lines, arcs):
        """Return the number of a mark that covers lines and arcs of files."""
        with self._lock:
            Compiles.count += 1
            self.places.append(FilePlace({self.count: 1}, lines, arcs))
            return self.count

    def _marked(self, text, name):
        """Return a text with marks, or None if no line of it comes from a measured file."""
        if text not in self._texts:
            marked = MarkedText(text)
            places = self.origins.find(text, name) if marked.places else {}
            first = self.count + 1
            Compiles.count += marked.count
            self.places += [_file_place(place, first, places) for place in marked.places]
            self._files |= {path for path, _ in places.values()}
            self._texts[text] = marked.with_marks(first) if places else None
            self._places[text] = places
            base = os.path.basename(name)  # ambiguous names have no places
            self.by_name[base] = places if base not in self.by_name else {}
        return self._texts[text]

    def _headers(self, program, options):
        """Return the headers with marks by name, also measured headers of the disk."""
        passed = dict(program["headers"])
        folders = [match[1] for each in options if (match := _FOLDER.match(each))]
        result, contents, pending = {}, [], [(program["text"], os.path.dirname(program["name"]))]
        while pending:
            text, folder = pending.pop()
            for name in _INCLUDE.findall(text):
                if name in result:
                    continue
                path, content = _find_header(name, passed, [folder, *folders])
                if content is None or not (name in passed or self.origins.is_measured(path)):
                    continue
                result[name] = self._marked(content, path) or content
                contents.append(content)
                pending.append((content, os.path.dirname(path)))
        is_marked = any(self._texts.get(content) for content in contents)
        return {**passed, **result} if is_marked else {}


def _file_place(place, first, origins):
    lines = {origins[line] for line in place.lines if line in origins}
    arcs = set()
    for start, end in place.arcs:
        target = abs(end)
        if start in origins and target in origins:
            (path, line), (other, end_line) = origins[start], origins[target]
            if path == other:
                arcs.add((path, line, end_line if end == target else -end_line))
    terms = {first + index: sign for index, sign in place.terms.items()}
    return FilePlace(terms, lines, arcs, place.is_selected)


def _find_header(name, passed, folders):
    """Return the path and the content of a header, or None without one."""
    if name in passed:
        return name, passed[name]
    for folder in folders:
        path = os.path.abspath(os.path.join(folder, name))
        if path.endswith(SUFFIXES) and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                return path, file.read()
    return name, None


# ---- NVRTC
def _compile(program, text, headers, options):
    """Return the PTX of a program with another text; None if it does not compile."""
    from cuda.bindings import nvrtc

    headers = headers or dict(program["headers"])
    names, contents = (
        [_bytes(each) for each in headers],
        [_bytes(each) for each in headers.values()],
    )
    source, name = _bytes(text), _bytes(program["name"])
    status, handle = nvrtc.nvrtcCreateProgram(source, name, len(names), contents, names)
    if status:
        return None
    try:
        for each in program["expressions"]:
            nvrtc.nvrtcAddNameExpression(handle, _bytes(each))
        (status,) = nvrtc.nvrtcCompileProgram(handle, len(options), list(map(_bytes, options)))
        if status:
            return None
        _, size = nvrtc.nvrtcGetPTXSize(handle)
        ptx = b" " * size
        nvrtc.nvrtcGetPTX(handle, ptx)
        return ptx.rstrip(b"\0").decode("utf-8", "surrogateescape")
    finally:
        nvrtc.nvrtcDestroyProgram(handle)


def _bytes(text):
    return text.encode("utf-8", "surrogateescape")


def _contracts(ptx):
    """Return whether PTX has contracted operations, which round once instead of twice."""
    return "fma.rn" in ptx or "fma.rz" in ptx


def rounds_alike(marked, plain):
    """Return whether two PTX texts with line information round each line alike."""
    is_same = not _contracts(marked) and not _contracts(plain)
    return is_same or _operations(marked) == _operations(plain)


def _operations(ptx):
    """Return the operations that contraction changes, with their lines."""
    result, location = set(), None
    for line in ptx.split("\n"):
        if match := _LOCATION.match(line):
            location = match.groups()
        elif match := _ROUNDED.search(line):
            result.add((match[0], location))
    return result
