# SPDX-License-Identifier: Apache-2.0
"""Random changes of instructions, judged by an assembler and by the emulator.

``python -m tests.emulator.modern.loading.mutants PTXAS SEED COUNT [FILE...]`` changes one word or
operand of the instructions of the tests, or of PTX files, and prints where the answers differ.
"""

import random
import re
import sys
from pathlib import Path

from . import neighbors
from .test_verifier import load, text_of

OPERANDS = ("%r3", "%rd3", "%h3", "%f3", "%fd3", "%p3", "5", "-1", "[%rd3]", "s", "[s]", "1.5", "_")
OPERANDS += ("!%p2", "%tid.x", "{%r1,%r2}")
INSTRUCTION = re.compile(r"(?:@!?%p\d+\s+)?([a-z][\w.:]* [^;{}]*(?:\{[^{}]*\}[^;{}]*)*;)")


def bodies_of(files):
    """Return one instruction of each mnemonic, with registers that the text of a test declares."""
    bodies = {}
    for line in "\n".join(Path(file).read_text() for file in files).splitlines():
        match = INSTRUCTION.fullmatch(line.split("//")[0].strip())
        if not match:
            continue
        body = re.sub(r"%rs(\d+)", r"%h\1", match[1]).replace("%rl", "%rd")
        body = re.sub(r"%(p|h|r|f|rd|fd)(\d+)", lambda m: f"%{m[1]}{int(m[2]) % 7 + 1}", body)
        bodies.setdefault(body.split(" ")[0], body)
    return list(bodies.values())


def changed(body, words, rng):
    """Return an instruction with another, a further or no word, or with another operand."""
    guard, parts, operands = neighbors.split(body)
    kind = rng.random()
    if kind < 0.4 and len(parts) > 1 and words:
        parts[rng.randrange(1, len(parts))] = rng.choice(words)
    elif kind < 0.6 and words:
        parts.insert(rng.randrange(1, len(parts) + 1), rng.choice(words))
    elif kind < 0.7 and len(parts) > 1:
        del parts[rng.randrange(1, len(parts))]
    elif operands:
        operands[rng.randrange(len(operands))] = rng.choice(OPERANDS)
    return f"{guard}{''.join(parts)} {', '.join(operands)};"


def mutants(bodies, seed, count):
    words, rng, found = {}, random.Random(seed), set()
    for body in bodies:
        name, *others = neighbors.split(body)[1]
        words.setdefault(name, set()).update(others)
    while len(found) < count:
        body = rng.choice(bodies)
        found.add(changed(body, sorted(words[neighbors.split(body)[1][0]]), rng))
    return sorted(found)


def main(program, seed, count, *files):
    assembler = neighbors.Assembler(program)
    bodies = bodies_of(files) if files else list(neighbors.bodies())
    known = assembler.accepted(bodies)
    bodies = [body for body in bodies if body in known]
    accepted, differing = 0, []
    for mutant in mutants(bodies, int(seed), int(count)):
        is_accepted = mutant in assembler.accepted([mutant])
        accepted += is_accepted
        if (load(text_of(mutant))[0] == "CUDA_SUCCESS") != is_accepted:
            differing.append(f"{'refused' if is_accepted else 'loads'}  {mutant}")
    print(*sorted(differing), f"{accepted} of {count} accepted, {len(differing)} differ", sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
