# SPDX-License-Identifier: Apache-2.0
"""Archives whose bytes depend only on their files: order, times, owners and modes are fixed."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from halfwarp.installation import hash_of

try:
    import deflate
except ImportError:  # an isolated build, or an interpreter for which it has no wheel
    deflate = None

try:
    import zopfli.zlib as zopfli
except ImportError:  # only the group `release` has it
    zopfli = None

EARLIEST = 315532800  # 1980, the earliest time in a zip archive
Compressor = Callable[[Iterable[bytes]], Iterable[bytes]]


def epoch_of(root: Path) -> int:
    """Return SOURCE_DATE_EPOCH, the time of the last commit, or 1980."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch)
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return int(done.stdout) if done.stdout.strip() else EARLIEST


def read_wheel(path: Path) -> dict[str, bytes]:
    """Map the name of each file in a wheel to its content."""
    with zipfile.ZipFile(path) as archive:
        return {i.filename: archive.read(i) for i in archive.infolist() if not i.is_dir()}


def write_wheel(
    path: Path, files: Mapping[str, bytes], epoch: int, compress: Compressor | None = None
) -> None:
    """Write a wheel of these files with a new RECORD; metadata is last, as recommended."""
    info = next(name.partition("/")[0] for name in files if name.endswith(".dist-info/METADATA"))
    record = f"{info}/RECORD"
    names = sorted(files.keys() - {record}, key=lambda name: (name.startswith(info), name))
    lines = [f"{name},{hash_of(files[name])},{len(files[name])}\n" for name in names]
    content = dict(files) | {record: "".join([*lines, f"{record},,\n"]).encode()}
    names.append(record)
    packed = (compress or deflate_all)([content[name] for name in names])
    moment = time.gmtime(max(epoch, EARLIEST))[:6]
    with zipfile.ZipFile(path, "w") as archive:
        for name, compressed in zip(names, packed, strict=True):
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            entry.create_system = 3  # Unix
            write_entry(archive, entry, content[name], compressed)


def write_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, data: bytes, packed: bytes
) -> None:
    """Append a file to a new archive."""
    entry.compress_type, entry.CRC = zipfile.ZIP_DEFLATED, zlib.crc32(data)
    entry.file_size, entry.compress_size = len(data), len(packed)
    entry.header_offset = archive.start_dir
    archive.fp.write(entry.FileHeader() + packed)
    archive.start_dir = archive.fp.tell()
    archive.filelist.append(entry)
    archive.NameToInfo[entry.filename] = entry


def deflated(data: bytes) -> bytes:
    """Compress by libdeflate where it is installed: a wheel is 4 % smaller than with zlib."""
    if deflate:
        return bytes(deflate.deflate_compress(data, 12))
    stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


def deflate_all(files: Iterable[bytes]) -> Iterable[bytes]:
    return map(deflated, files)


def squeeze_all(files: Iterable[bytes]) -> Iterable[bytes]:
    """Compress for a release, in as many processes as processors: this takes minutes."""
    with ProcessPoolExecutor() as pool:
        return list(pool.map(squeezed, files))


def squeezed(data: bytes) -> bytes:
    """Compress by Zopfli where it is installed: a wheel is 1 % smaller than with libdeflate."""
    smaller = zopfli.compress(data, numiterations=5)[2:-4] if zopfli else None
    return min(filter(None, (smaller, deflated(data))), key=len)


def rewrite_sdist(path: Path, epoch: int) -> None:
    """Rewrite an sdist with a fixed order, no owners and one time stamp."""
    with tarfile.open(path) as old:
        files = {e.name: (e, content(old, e)) for e in old if e.isfile()}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as new:
        for name in sorted(files):
            old_entry, data = files[name]
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = (
                len(data),
                epoch,
                0o755 if old_entry.mode & 1 else 0o644,
            )
            new.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(packed.getvalue(), 9, mtime=epoch))


def content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    """Return the content of a regular file."""
    file = archive.extractfile(entry)
    return file.read() if file else b""
