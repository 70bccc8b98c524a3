# SPDX-License-Identifier: Apache-2.0
"""Checks a wheel: content, sizes, tag, licenses, and system requirements."""

from __future__ import annotations

import email
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from . import normal, sbom

LIMITS = {"wheel": 4_500_000, "installed": 14_000_000}  # bytes
KINDS = {".py", ".pyi", ".pxd", ".so", ".typed", ".h", ".hpp", ".xz"}
# Shared objects that a wheel may require; manylinux guarantees each of them.
NEEDED = {"libc", "libm", "libdl", "librt", "libpthread", "libstdc++", "libgcc_s"}
REQUIRED = ("Author", "Keywords", "Summary", "License-Expression", "Requires-Python")
EXTRAS = {"cu12", "cu13", "numpy", "test", "dev", "docs", "bench"}


def problems(wheel: Path, root: Path) -> list[str]:
    """Return a sentence for each problem."""
    files = normal.read_wheel(wheel)
    metadata = {PurePath(n).name: d for n, d in files.items() if ".dist-info/" in n}
    return [
        *wrong_sizes(wheel, files),
        *wrong_content(files, root),
        *wrong_objects(files),
        *wrong_tags(wheel, metadata["WHEEL"].decode()),
        *wrong_metadata(metadata["METADATA"].decode(), files, root),
    ]


def sizes(wheel: Path, files: Mapping[str, bytes]) -> dict[str, int]:
    """Return the sizes of the wheel and of the installed files, in bytes."""
    return {"wheel": wheel.stat().st_size, "installed": sum(map(len, files.values()))}


def wrong_sizes(wheel: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    for kind, size in sizes(wheel, files).items():
        if size > LIMITS[kind]:
            yield f"{kind}: {size:,} bytes, of at most {LIMITS[kind]:,}"


def wrong_content(files: Mapping[str, bytes], root: Path) -> Iterator[str]:
    build_paths = (str(root).encode(), b"/tmp/pip-")
    for name, data in files.items():
        top = name.partition("/")[0]
        if not top.endswith(".dist-info"):
            if top not in ("cuda", "halfwarp"):
                yield f"{name}: in neither of the two packages"
            if PurePath(name).suffix not in KINDS:
                yield f"{name}: of an unexpected file type"
        if name == "cuda/__init__.py":
            yield f"{name}: the namespace is shared with other distributions"
        if any(path in data for path in build_paths):
            yield f"{name}: has the path of the folder that it was built in"


def wrong_objects(files: Mapping[str, bytes]) -> Iterator[str]:
    """Check shared objects: debug data, required libraries, and symbols."""
    objects = {name: data for name, data in files.items() if name.endswith(".so")}
    included = {soname: data for data in objects.values() if (soname := soname_of(data))}
    for name, data in objects.items():
        if b".debug_info" in data:
            yield f"{name}: has debug data"
        defined: set[str] = set()
        for library, path in dynamic_section(data):
            stem = library.partition(".so")[0]
            if library in included:  # the loader of the package opens it first, by its path
                defined |= set(exported(included[library]))
            elif stem and stem not in NEEDED and not stem.startswith("ld-linux-"):
                yield f"{name}: needs {library}"
            if path:
                yield f"{name}: looks for libraries in {path}"
        for symbol in undefined(data):
            if symbol not in defined and not symbol.startswith(("Py", "_Py")):
                yield f"{name}: needs {symbol}, which was in no library that it was linked with"
        for symbol in exported(data):
            if symbol.startswith("_Z"):
                yield f"{name}: exports {symbol}, which is a name of C++"


def dynamic_section(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield (required library, "") and ("", search path)."""
    from elftools.elf.elffile import ELFFile  # auditwheel requires it

    for tag in ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic").iter_tags():
        if tag.entry.d_tag == "DT_NEEDED":
            yield tag.needed, ""
        elif tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH"):
            yield "", getattr(tag, tag.entry.d_tag[3:].lower())


def soname_of(data: bytes) -> str:
    """Return the name by which other libraries need this one, or an empty string."""
    from elftools.elf.elffile import ELFFile

    tags = ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic").iter_tags("DT_SONAME")
    return next((tag.soname for tag in tags), "")


def undefined(data: bytes) -> Iterator[str]:
    """Yield unversioned symbols that a shared object requires from the program that loads it."""
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(data))
    names, versions = (elf.get_section_by_name(each) for each in (".dynsym", ".gnu.version"))
    for index, symbol in enumerate(names.iter_symbols()):
        is_needed = symbol["st_shndx"] == "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"
        number = versions.get_symbol(index)["ndx"] if versions else "VER_NDX_GLOBAL"
        if is_needed and number in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL"):
            yield symbol.name


def exported(data: bytes) -> Iterator[str]:
    """Yield symbols that a shared object exports to the process."""
    from elftools.elf.elffile import ELFFile

    for symbol in ELFFile(io.BytesIO(data)).get_section_by_name(".dynsym").iter_symbols():
        if symbol["st_shndx"] != "SHN_UNDEF":
            yield symbol.name


def wrong_tags(wheel: Path, text: str) -> Iterator[str]:
    platforms = wheel.stem.split("-")[-1].split(".")
    if not all(re.fullmatch(r"manylinux_2_\d+_\w+|manylinux20\d+_\w+", p) for p in platforms):
        yield f"{wheel.name}: not repaired"
    stated = {tag.rpartition("-")[2] for tag in re.findall(r"^Tag: (\S+)", text, re.M)}
    if stated != set(platforms):
        yield f"{wheel.name}: its metadata has the tags {', '.join(sorted(stated))}"


def wrong_metadata(text: str, files: Mapping[str, bytes], root: Path) -> Iterator[str]:
    metadata = email.message_from_string(text)
    for field in REQUIRED:
        if not metadata[field]:
            yield f"metadata: no {field}"
    if missing := EXTRAS - set(metadata.get_all("Provides-Extra", [])):
        yield f"metadata: no extra {', '.join(sorted(missing))}"
    license_files = metadata.get_all("License-File", [])
    included = [name for name in files if ".dist-info/licenses/" in name]
    if sorted(license_files) != sorted(name.partition("/licenses/")[2] for name in included):
        yield f"metadata: license files {license_files}, and the wheel has {included}"
    if not any(name.endswith(f".dist-info/{sbom.NAME}") for name in files):
        yield f"metadata: no {sbom.NAME}"
    notice = b"".join(files[name] for name in included if name.endswith("/NOTICE")).decode()
    for archive in re.findall(r'"(lib\w+\.a)"', (root / "build_support" / "parts.py").read_text()):
        if archive not in notice:
            yield f"NOTICE: says nothing of {archive}, which is linked"
