# SPDX-License-Identifier: Apache-2.0
"""Changes PTX text at random: tokens, operands, modifiers, numbers, types, lines."""

import random
import re

TOKEN = re.compile(r"0[fdFD][0-9a-fA-F]+|\.?[%$A-Za-z_][\w$:]*|\d\w*|\S|\s+")
NAME = re.compile(r"%\w+\d|\$\w+|\b_Z\w+|\b\w+_param_\d+")
TYPES = ".u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .b8 .b16 .b32 .b64 .b128 .f16 .f16x2 .bf16 .f32"
TYPES = [*TYPES.split(), ".f64", ".pred"]
SPACES = [".global", ".shared", ".local", ".param", ".const", ".shared::cluster", ".param::func"]
WORDS = ".wide .hi .lo .cc .sat .ftz .rn .rz .rzi .rni .approx .full .v2 .v4 .v8 .nc .volatile"
WORDS += " .relaxed .acquire .gpu .sync .aligned .uni .eq .lt .and .or .add .cas .exch .bfly .idx"
WORDS += " .clamp .wrap .l .r .any .all .ballot .L2::cache_hint .to .x .y .w .b0 .noftz .unknown"
WORDS = WORDS.split()
OPCODES = "abs add addc and atom bar barrier bfe bfi bfind bra brev brx call clz cnot copysign cvt"
OPCODES += " cvta div elect ex2 exit fence fma fns isspacep ld lop3 mad madc match max membar min"
OPCODES += " mov mul nanosleep neg not or popc prefetch prmt rcp red redux rem ret rsqrt sad selp"
OPCODES += " set setp shf shfl shl shr slct sqrt st sub subc testp trap vote xor alloca tex mma"
OPCODES = OPCODES.split()
NUMBERS = [0, 1, -1, 2, 3, 4, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 255, 256, 1023, 4096, 65535]
NUMBERS += [
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 62,
    1 << 63,
    (1 << 64) - 1,
]
SPECIALS = "%tid.x %tid.w %ntid.y %laneid %warpid %clock64 %envreg2 %envreg31 %lanemask_lt %pm0"
SPECIALS += " %reserved_smem_offset_1 %gridid %is_explicit_cluster %something_newer %r99999"
SPECIALS = SPECIALS.split()


class Corpus:
    """Valid texts as lists of lines, with the names that each text uses."""

    def __init__(self, texts):
        self.lines = [text.split("\n") for text in texts]
        self.names = [sorted(set(NAME.findall(text))) or ["x"] for text in texts]


class Mutator:
    """A mutated text, determined by a seed and a number."""

    def __init__(self, corpus, seed, number):
        self.random = random.Random(f"{seed}:{number}")
        self.corpus = corpus
        source = self.random.randrange(len(corpus.lines))
        self.lines, self.names = list(corpus.lines[source]), corpus.names[source]

    def text(self):
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3, 5, 8])):
            self.random.choice([self.change_line, *[self.change_token] * 4])()
        return "\n".join(self.lines)

    def place(self):
        return self.random.randrange(len(self.lines)) if self.lines else 0

    def change_line(self):
        lines, at, other = self.lines, self.place(), self.place()
        operation = self.random.randrange(6)
        if not lines or operation == 0:
            lines[at : at + 1] = []
        elif operation == 1:
            lines.insert(at, lines[other])
        elif operation == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif operation == 3:
            lines.insert(at, self.random.choice(self.random.choice(self.corpus.lines)))
        elif operation == 4:
            lines[at] = self.random.choice(["@%p1 ", "@!%p1 ", "{ ", "} ", "// "]) + lines[at]
        else:
            lines.insert(at, self.instruction())

    def instruction(self):
        """Write a random instruction from operations, words and operands of the text."""
        pick, chance = self.random.choice, self.random.random
        name = pick(OPCODES) + "".join(pick(WORDS + SPACES + TYPES) for _ in range(pick([0, 1, 2])))
        operands = [self.operand() for _ in range(pick([0, 1, 2, 2, 3, 3, 4, 5]))]
        if chance() < 0.2:
            operands.insert(0, "[" + self.operand() + pick(["", "+4", "+65536", "-8"]) + "]")
        return f"{name}{pick(TYPES) if chance() < 0.9 else ''} {', '.join(operands)};"

    def operand(self):
        sorts = [self.names, self.names, self.names, list(map(str, NUMBERS)), SPECIALS]
        one = self.random.choice(self.random.choice(sorts))
        forms = {0: "[{}]", 1: "{{{0}, {0}}}", 2: "{0}|{0}", 3: "({})", 4: "!{}", 5: "{}.x", 6: "_"}
        return forms.get(self.random.randrange(12), "{}").format(one)

    def change_token(self):
        at = self.place()
        tokens = TOKEN.findall(self.lines[at]) if self.lines else []
        places = [i for i, token in enumerate(tokens) if not token.isspace()]
        if not places:
            return
        n, pick = self.random.choice(places), self.random.choice
        operation = self.random.randrange(10)
        if operation == 0:
            tokens[n] = ""
        elif operation == 1:
            tokens[n] += tokens[n]
        elif operation in (2, 3):
            near = TOKEN.findall(self.lines[self.place()])
            tokens[n] = pick([t for t in near if t[:1] == tokens[n][:1]] or [tokens[n]])
        elif operation == 4:
            tokens[n] += pick(WORDS + TYPES + SPACES)
        elif operation == 5:
            tokens[n] = pick([*SPECIALS, *OPCODES, *WORDS, *"[](){},;+-@!|<>"])
        else:
            tokens[n] = self.replaced(tokens[n])
        self.lines[at] = "".join(tokens)

    def replaced(self, token):
        """Return another token of the same sort."""
        pick = self.random.choice
        for sort in (TYPES, SPACES, WORDS, OPCODES):
            if token in sort:
                return pick(sort)
        if token[:1].isdigit():
            return str(pick(NUMBERS))
        return self.operand() if token[:1] in "%$_" else token
