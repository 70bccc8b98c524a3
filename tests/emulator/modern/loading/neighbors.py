# SPDX-License-Identifier: Apache-2.0
"""Instructions with one operand, type or word more or less, and what an assembler answers.

``python -m tests.emulator.modern.loading.neighbors PTXAS`` records the answers of an assembler, and
marks with ``!`` where the emulator answers otherwise today.
"""

import gzip
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .test_first_versions import INSTRUCTIONS
from .test_verifier import ACCEPTED, BODY_LINE, load, text_of

ANSWERS = Path(__file__).with_name("neighbors.txt.gz")
# Each is inserted at the end of the name, and replaces each type.
PARTS = (".u32", ".b64", ".f16", ".f32", ".f64", ".s16", ".bf16x2", ".sync", ".relu", ".sat")
PARTS += (".ftz", ".rn", ".cta", ".global", ".approx", ".aligned", ".v2", ".L2::cache_hint")
REGISTERS = {"f16": "%h", "bf16": "%h", "f16x2": "%r", "bf16x2": "%r", "f32": "%f", "f64": "%fd"}
REGISTERS |= {"s16": "%h", "u16": "%h", "s32": "%r", "u32": "%r", "s64": "%rd", "u64": "%rd"}
REGISTERS |= {"b16": "%h", "b32": "%r", "b64": "%rd", "u16x2": "%r", "s16x2": "%r", "f32x2": "%rd"}
ARITHMETIC = {"abs": 2, "neg": 2, "ex2.approx": 2, "tanh.approx": 2, "sqrt": 2, "rcp": 2, "not": 2}
ARITHMETIC |= {"popc": 2, "add": 3, "sub": 3, "mul": 3, "div": 3, "rem": 3, "min": 3, "max": 3}
ARITHMETIC |= {"and": 3, "shl": 3, "shr": 3, "mad": 4, "fma": 4, "sad": 4}
WORDS = ("", ".rn", ".rz", ".ftz", ".sat", ".relu", ".rn.relu", ".NaN", ".xorsign.abs", ".lo")
WORDS += (".hi", ".wide", ".cc", ".rn.oob", ".full", ".approx", ".rn.ftz", ".rn.sat")
CONVERTED = {"s8": "%h", "u8": "%h", "tf32": "%r", "e4m3x2": "%h", "e5m2x2": "%h"}
CONVERTED |= {key: value for key, value in REGISTERS.items() if key[0] != "b" or key[1] == "f"}
ROUNDINGS = ("", ".rn", ".rz", ".rni", ".rzi", ".rna", ".sat", ".ftz", ".rn.relu", ".rn.satfinite")
ROUNDINGS += (".rn.satfinite.relu", ".rna.satfinite")
MATRICES = """
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {fd1-2}, {%fd3}, {%fd4}, {fd1-2};
mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {r1-2}, {%r3}, {%r4}, {r1-2};
mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {r1-2}, {%r3}, {%r4}, {r1-2};
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {r1-2}, {%r3}, {%r4}, {r1-2};
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {r1-2}, {%r3}, {%r4}, {r1-2};
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {r1-2}, {r3-4}, {%r5}, {r1-2};
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {r1-2}, {r3-6}, {r7-8}, {r1-2};
mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {f1-4}, {r3-4}, {%r5}, {f1-4};
mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {f1-4}, {r3-4}, {%r5}, {f1-4};
mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {fd1-4}, {fd5-6}, {%fd7}, {fd1-4};
mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {fd1-4}, {fd2-5}, {fd6-7}, {fd1-4};
mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {r1-4}, {r5-8}, {r9-10}, {r1-4};
mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 {r1-4}, {r5-8}, {r9-10}, {r1-4};
mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {r1-4}, {r5-6}, {%r9}, {r1-4};
mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {r1-4}, {r5-8}, {r9-10}, {r1-4};
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {f1-4}, {r5-8}, {r9-10}, {f1-4};
wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {r1-8}, [%rd1];
wmma.load.b.sync.aligned.col.m32n8k16.global.u8 {%r1}, [%rd1];
wmma.load.a.sync.aligned.row.m8n32k16.global.s8 {%r1}, [%rd1], 16;
wmma.load.a.sync.aligned.row.m8n8k32.global.u4 {%r1}, [%rd1];
wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r1}, [%rd1];
wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {r1-4}, [%rd1];
wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {r1-4}, [%rd1];
wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {fd1-2}, [%rd1];
wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1], {r1-4};
wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%rd1], {fd1-2};
vmad.s32.u32.u32 %r1, %r2, %r3, %r4;
vabsdiff2.u32.u32.u32.add %r1, %r2, %r3, %r4;
vset4.u32.u32.lt %r1, %r2, %r3, %r4;
vshl.u32.u32.u32.clamp %r1, %r2, %r3;
addc.cc.u32 %r1, %r2, %r3;
subc.u32 %r1, %r2, %r3;
madc.lo.cc.u32 %r1, %r2, %r3, %r4;
mul24.lo.u32 %r1, %r2, %r3;
cnot.b32 %r1, %r2;
lg2.approx.f32 %f1, %f2;
rsqrt.approx.f32 %f1, %f2;
sin.approx.f32 %f1, %f2;
bfe.u32 %r1, %r2, %r3, %r4;
brev.b32 %r1, %r2;
clz.b32 %r1, %r2;
ldu.global.u32 %r1, [%rd1];
prefetchu.L1 [%rd1];
membar.sys;
fence.proxy.alias;
pmevent 3;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 16, [s];
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [s], 16;
cp.async.bulk.prefetch.L2.global [%rd1], 16;
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {r1-2}];
multimem.ld_reduce.global.add.u32 %r1, [%rd1];
multimem.st.global.u32 [%rd1], %r1;
multimem.red.global.add.u32 [%rd1], %r1;
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%rd1], %r1, [%rd2];
""".strip().splitlines()
ASKED_VERSIONS = ["6.3", "6.4", "6.5", *(f"7.{n}" for n in range(9)), *(f"8.{n}" for n in range(7))]
ASKED_TARGETS = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90"]
ASKED = (ASKED_VERSIONS, ASKED_TARGETS)
TOGETHER = 1000  # forms in one text
VECTOR = re.compile(r"\{([a-z]+)(\d+)-(\d+)\}")  # of MATRICES: {r3-5} is {%r3,%r4,%r5}
TYPE = re.compile(r"\.([usbf](8|16|32|64|128)|bf16|pred|b1024|[ubsf]+16x2|tf32|e4m3x2)$")
OPERAND = re.compile(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,{\[])+")


def split(body):
    """Return the guard, the parts of the name, and the operands of an instruction."""
    match = re.fullmatch(r"(@\S+ )?([\w.:]+)\s*(.*);", body)
    guard, name, operands = match.groups()
    parts = [name.split(".")[0], *re.findall(r"\.[^.]+", name)]
    return guard or "", parts, [each.strip() for each in OPERAND.findall(operands)]


def neighbors(body):
    """Return the instruction and its neighbors, each once."""
    guard, parts, operands = split(body)

    def text(parts, operands):
        return f"{guard}{''.join(parts)} {', '.join(operands)};"

    lists = (operands, [*operands, "%r5"], [*operands, "%p7"])
    forms = [text(parts, each) for each in lists]
    forms += [text(parts, operands[:i] + operands[i + 1 :]) for i in range(len(operands))]
    for i in range(1, len(parts)):
        forms.append(text(parts[:i] + parts[i + 1 :], operands))
        forms.append(text([*parts[: i + 1], *parts[i:]], operands))
        if TYPE.match(parts[i]):
            forms += [text([*parts[:i], each, *parts[i + 1 :]], operands) for each in PARTS[:7]]
    forms += [text([*parts, each], operands) for each in PARTS]
    return list(dict.fromkeys(forms))


def bodies():
    """Return the instructions to change."""
    plain = [body for body in ACCEPTED if body[0] != "{"]
    plain += [VECTOR.sub(vector, row) for row in MATRICES]
    plain += [body for _, target, body in INSTRUCTIONS if target != "sm_90a"]
    return dict.fromkeys(plain)


def vector(match):
    return f"{{{','.join(f'%{match[1]}{n}' for n in range(int(match[2]), int(match[3]) + 1))}}}"


def arithmetic():
    """Return operations of all types, with each word."""
    for name, count in ARITHMETIC.items():
        for type_, register in REGISTERS.items():
            operands = ", ".join(f"{register}{n}" for n in range(1, count + 1))
            yield from (f"{name}{word}.{type_} {operands};" for word in WORDS)


def atomics():
    for operation in ("add", "and", "xor", "min", "max", "inc", "exch", "cas", "add.noftz"):
        for type_, register in REGISTERS.items():
            sources = ", ".join(f"{register}{n}" for n in range(2, 4 if operation == "cas" else 3))
            yield f"atom.global.{operation}.{type_} {register}1, [%rd1], {sources};"
            yield f"red.global.{operation}.{type_} [%rd1], {sources};"


def conversions():
    for target, register in CONVERTED.items():
        for source, from_ in CONVERTED.items():
            operands = f"{register}1, {from_}2" + f", {from_}3" * (target[-2:] == "x2")
            yield from (f"cvt{each}.{target}.{source} {operands};" for each in ROUNDINGS)


def forms():
    """Return all forms, each once."""
    every = [form for body in bodies() for form in neighbors(body)]
    return list(dict.fromkeys([*every, *arithmetic(), *atomics(), *conversions()]))


class Assembler:
    """Answers of an assembler, which knows targets from sm_75 and CUDA 13's later versions."""

    def __init__(self, program):
        self.program = program

    def accepted(self, forms, version=ASKED_VERSIONS[-1], target=ASKED_TARGETS[-1]):
        """Return the forms without an error, the others removed from the text until none has."""
        if self.wrong_lines(text_of(version=version, target=target)):
            return set()  # the version does not know the target
        forms = list(forms)
        while lines := self.wrong_lines(text_of("\n".join(forms), version=version, target=target)):
            remaining = [form for n, form in enumerate(forms, BODY_LINE) if n not in lines]
            if len(remaining) == len(forms):  # an error without a line
                half = len(forms) // 2
                halves = (forms[:half], forms[half:]) if half else ()
                return set().union(*(self.accepted(each, version, target) for each in halves))
            forms = remaining
        return set(forms)

    def wrong_lines(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as source:
            source.write(text)
            source.flush()
            command = [self.program, "-arch", "sm_90", "-O0", source.name, "-o", "/dev/null"]
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return set()
        return {int(line) for line in re.findall(r"line (\d+)", done.stderr)} or {-1}

    def firsts(self, forms):
        """Map accepted forms to their first target, and their first version with this target."""
        targets, versions = {}, {}
        accepted = self.accepted(forms)
        for target in ASKED_TARGETS:
            fresh = self.accepted(accepted - targets.keys(), target=target)
            targets |= dict.fromkeys(fresh, target)
            for version in ASKED_VERSIONS:
                known = self.accepted(fresh - versions.keys(), version, target)
                versions |= dict.fromkeys(known, version)
        return {form: f"{versions[form]} {targets[form]}" for form in accepted}


def emulated(form, first):
    """Return whether the emulator accepts a form from its first version and target on."""
    if first is None:
        return not loads(form)
    version, target = (list_.index(each) for list_, each in zip(ASKED, first, strict=True))
    return (
        loads(form, ASKED_VERSIONS[version], ASKED_TARGETS[target])
        and not (version and loads(form, ASKED_VERSIONS[version - 1], ASKED_TARGETS[target]))
        and not (target and loads(form, target=ASKED_TARGETS[target - 1]))
    )


def loads(form, version=ASKED_VERSIONS[-1], target=ASKED_TARGETS[-1]):
    code, _ = load(text_of(form, version=version, target=target))
    return code == "CUDA_SUCCESS"


def record(program):
    """Write for each form its first version and target, or ``-`` if it is refused."""
    every, assembler, answers = forms(), Assembler(program), {}
    for at in range(0, len(every), TOGETHER):
        answers |= assembler.firsts(every[at : at + TOGETHER])
    with gzip.GzipFile(ANSWERS, "wb", mtime=0) as file:
        for form in every:
            answer = answers.get(form, "-")
            is_same = emulated(form, None if answer == "-" else answer.split(" "))
            file.write(f"{answer}{'' if is_same else '!'}\n".encode())


def recorded():
    """Return each form, its first version and target or None, and whether the emulator differs."""
    answers = gzip.decompress(ANSWERS.read_bytes()).decode().splitlines()
    for form, answer in zip(forms(), answers, strict=True):
        first = answer.rstrip("!")
        yield form, None if first == "-" else first.split(" "), answer[-1] == "!"


if __name__ == "__main__":
    record(sys.argv[1])
