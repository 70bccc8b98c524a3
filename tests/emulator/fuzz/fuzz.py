# SPDX-License-Identifier: Apache-2.0
"""Runs changed PTX in child processes, and reports the mutants that crash or hang one.

``python tests/emulator/fuzz/fuzz.py --seed 1 --cases 0:100000 --processes 4``; exit status 1 when
there are any. ``--library`` takes another build of the emulator, such as one with sanitizers.
"""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[2]))

from tests.search import Search, add_options  # noqa: E402

CORPUS = HERE.parent / "corpus"
ARCHITECTURES = ("75", "90")


def write_corpus(folder):
    """The PTX of every kernel source, for each architecture."""
    from cuda.core import Program, ProgramOptions

    for source in sorted(CORPUS.glob("*.cu")):
        for architecture in ARCHITECTURES:
            options = ProgramOptions(
                arch=f"compute_{architecture}", std="c++17", use_bundled_headers=True
            )
            code = Program(source.read_text(), "c++", options).compile("ptx").code
            text = code.decode().rstrip("\0")
            (folder / f"{source.stem}_{architecture}.ptx").write_text(text)


def emulator_library():
    import cuda.bindings

    return Path(cuda.bindings.__path__[0]) / "libcuda_emulated.so"


def search(library, corpus, seed, cases, processes=1):
    return Search([HERE / "worker.py", library, corpus], seed, processes).run(cases)


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    parser.add_argument("--library", type=Path, default=None)
    parser.add_argument("--corpus", type=Path, default=None, help="a folder of PTX")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = options.corpus or Path(folder)
        if not options.corpus:
            write_corpus(corpus)
        library = options.library or emulator_library()
        done = search(library, corpus, options.seed, options.cases, options.processes)
    return done.finish()


if __name__ == "__main__":
    sys.exit(main())
