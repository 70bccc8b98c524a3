# SPDX-License-Identifier: Apache-2.0
"""Records what an assembler answers for the neighbors of forms, which a C++ test compares.

``python -m tests.emulator.modern.loading.neighbors_of_forms PTXAS`` takes the texts of the program
build/tests/ptx/verification/ptx_neighbors, and writes cpp/tests/ptx/verification/data.
"""

import re
import resource
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[4]
PROGRAM = ROOT / "build/tests/ptx/verification/ptx_neighbors"
ANSWERS = ROOT / "cpp/tests/ptx/verification/data/neighbors.txt"
HEAD = """.version 9.2
.target {target}
.address_size 64
.global .align 64 .b8 gm[256]; .global .texref tr; .global .surfref su; .func fn() {{ ret; }}
.func (.reg .b32 z) fg(.reg .b32 y) {{ mov.b32 z, y; ret; }}
.visible .entry k(.param .u64 pa) {{
.reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %h<16>; .reg .b32 %r<80>; .reg .b64 %rd<40>;
.reg .f32 %f<80>; .reg .f64 %fd<8>; .reg .b128 %q<4>; .shared .align 16 .b8 sm[256];
.local .align 16 .b8 lo[64]; T: .branchtargets L; PR: .callprototype _ ();
PQ: .callprototype (.reg .b32 z) _ (.reg .b32 y);
"""
TOGETHER = 1500  # statements in one text
SECONDS, BYTES = 15, 3 << 30  # some texts exhaust the assembler


class Assembler:
    def __init__(self, program):
        self.program = program
        self.unknown = set()  # statements without an answer

    def wrong_lines(self, target, statements):
        """Return the lines with an error, 0 for an error elsewhere; None: there is no answer."""
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as source:
            source.write(HEAD.format(target=target) + "\n".join(statements) + "\nL: ret; }\n")
            source.flush()
            command = [self.program, "-arch", target, "-O0", source.name, "-o", "/dev/null"]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=SECONDS, preexec_fn=limited
                )
            except subprocess.TimeoutExpired:
                return None
        if done.returncode < 0 or "memory" in done.stderr:
            return None
        numbers = {int(line) for line in re.findall(r"line (\d+)", done.stderr)}
        return numbers or ({0} if done.returncode else set())

    def accepted(self, target, statements):
        """Return the statements without an error, the others removed until no error is left."""
        first = HEAD.count("\n") + 1
        while statements and (lines := self.wrong_lines(target, statements)) != set():
            remaining = [each for n, each in enumerate(statements, first) if n not in (lines or ())]
            if len(remaining) < len(statements):
                statements = remaining
            elif len(statements) == 1:
                self.unknown.update(statements if lines is None else ())
                return set()
            else:
                half = len(statements) // 2
                halves = (statements[:half], statements[half:])
                return set().union(*(self.accepted(target, each) for each in halves))
        return set(statements)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def main(program):
    printed = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout
    forms = [[row.split("\t") for row in form.splitlines()] for form in printed.split("\n\n")[:-1]]
    of_target = {}
    for target, _, statement in (row for form in forms for row in form):
        of_target.setdefault(target, {})[statement] = None
    assembler, accepted = Assembler(program), {}
    for target, statements in of_target.items():
        ordered = list(statements)
        parts = [ordered[at : at + TOGETHER] for at in range(0, len(ordered), TOGETHER)]
        accepted[target] = set().union(*(assembler.accepted(target, part) for part in parts))

    def answer(target, emulated, statement):
        answered = "+" if statement in accepted[target] else "-"
        return answered if answered == emulated and statement not in assembler.unknown else "!"

    with open(ANSWERS, "w") as file:
        for form in forms:
            answers = groupby(answer(*row) for row in form)
            file.write("".join(f"{len(list(same))}{each}" for each, same in answers) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
