# SPDX-License-Identifier: Apache-2.0
"""Functions and statements that the parser of CUDA C++ finds, and where they are."""

import ast

import pytest

from halfwarp.coverage.literals import _is_text
from halfwarp.coverage.statements import Parser, _has_type, _is_executable
from halfwarp.coverage.tokens import Source, _is_balanced


def functions_in(text):
    return Parser(Source(text)).functions


def lines_of(function):
    """Return the line of the head, and the lines of the statements of the body."""
    return function.line, [statement.line for statement in function.body.body]


BODY = "{\nf();\n}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"\n__device__ int k() {BODY}", [(2, [3])]),
        (f"#if A\n__device__ int k() {BODY}", [(2, [3])]),
        (f"int a;\n__device__ int k() {BODY}", [(2, [3])]),
        (f"namespace n {{ }}\n__device__ int k() {BODY}", [(2, [3])]),
        (f"namespace n {{\n__device__ int k() {BODY} }} __device__ int l();", [(2, [3])]),
        (f"class C {{ public:\n__device__ int k() {BODY} }};", [(2, [3])]),
        (f"class C {{ private:\n__device__ C() {BODY} int a; }};", [(2, [3])]),
        (f"struct C : B {{\n__device__ int k() {BODY} }} c = {{ 1 }};", [(2, [3])]),
        (f"struct alignas(16) C {{\n__device__ int k() {BODY} }};", [(2, [3])]),
        (f"__device__ C& operator=(C c) {BODY}", [(1, [2])]),
        (f"__device__ int a = b(1) + c{BODY};", []),
        (f"__device__ decltype(1) a{BODY};", []),
        (f"enum e {BODY}; __device__ int k() {BODY}", [(3, [4])]),
        (f"__device__ enum e k() {BODY}", []),  # an enumeration has no body of a function
        (f"__device__ C::C(int a) : b<int>{{a}}, c{{a}} {BODY}", [(1, [2])]),
        (f"int a = {BODY}, b = {BODY};\n__device__ int k() {BODY}", [(6, [7])]),
        (f"template <class T = void(int), int n = (1 > 0)>\n__device__ T k() {BODY}", [(1, [3])]),
        (f"int a = {{ __device__ b() {BODY} }};", []),
        (f"template <template <class> class T, int m = 1>\n__device__ T k() {BODY}", [(1, [3])]),
        (f"#define KERNEL INNER\n#define INNER __global__\nKERNEL void k() {BODY}", [(3, [4])]),
        (f"#define KERNEL __global__\n#define HOST int\nHOST k() {BODY}", []),
        (f"#define HOST int\n__device__ HOST k() {BODY}", [(2, [3])]),
        (f"int host() {{ __device__ }} int k() {BODY}", []),
        (f"int a = {{ __device__ }}, k() {BODY}", []),
        (f"template <int n = f(), int m = 1>\n__device__ int k() {BODY}", [(1, [3])]),
        (f"template <int n = sizeof(A<int>), int m = 1>\n__device__ int k() {BODY}", [(1, [3])]),
        (
            f"__device__ int k() {{ struct L {{\n__device__ int l() {BODY} }}; }}",
            [(2, [3]), (1, [1])],
        ),
        (f"int host() {BODY} int a; __device__ int k() {BODY}", [(3, [4])]),
        (f"__device__ int k(int (&a)[2]) {BODY} __device__ int l() {BODY}", [(1, [2]), (3, [4])]),
        (f"__device__ int k() {BODY[:-1]}", [(1, [2])]),  # the text ends too early
        ("template", []),
        ("template <class T", []),
        ("__device__ int k(", []),
    ],
)
def test_functions_that_run_on_a_device(text, expected):
    assert [lines_of(function) for function in functions_in(text)] == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [("constexpr __device__", True), ("__device__ consteval", True), ("__device__", False)],
)
def test_a_function_that_the_compiler_may_evaluate(head, expected):
    (function,) = functions_in(f"{head} int k() {{ }}")
    assert function.is_constexpr == expected


def shape(statement, text):
    """Return the kind of a statement, signs of its properties, its condition and its parts.

    ~ is not counted, ! jumps, ^ leaves, { has braces.
    """
    signs = {
        "~": not statement.is_counted,
        "!": statement.jumps,
        "^": statement.leaves,
        "{": statement.has_braces,
    }
    result = statement.kind + "".join(sign for sign, holds in signs.items() if holds)
    if statement.kind in ("loop", "do"):
        result += "endless" * statement.is_endless + "single" * statement.is_single
    if statement.condition:
        result += f"({text[slice(*statement.condition)]})"
    for part in statement.body:
        result += " [" + shape(part, text) + "]"
    if statement.alternative:
        result += " else [" + shape(statement.alternative, text) + "]"
    for function in statement.functions:
        result += " lambda [" + shape(function.body, text) + "]"
    return result


def shapes(body, before=""):
    text = f"{before}__global__ void k(int* x, int n) {{{body}}}"
    *_, function = functions_in(text)
    statements = function.body.body
    parts = [text[each.start : each.end] for each in statements]  # they are the whole body
    assert "".join("".join(parts).split()) == "".join(body.replace("[[likely]]", "").split())
    return [shape(statement, text) for statement in statements]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (";", ["simple~"]),
        ("f(x);", ["simple"]),
        ("return;", ["simple!^"]),
        ("x[0] = g([n] { return 1; });", ["simple! lambda [block!^{ [simple!^]]"]),
        ("return", ["simple!^"]),
        ("return [] { f(x); };", ["simple!^ lambda [block{ [simple]]"]),
        ("g(n, [] { f(x); });", ["simple lambda [block{ [simple]]"]),
        ("g(*[] { f(x); });", ["simple lambda [block{ [simple]]"]),
        ("g([]() { f(x); });", ["simple lambda [block{ [simple]]"]),
        ("g([](int v) mutable -> int { f(x); });", ["simple lambda [block{ [simple]]"]),
        ("x[n] < g([] { f(x); });", ["simple lambda [block{ [simple]]"]),
        ("x[n](1)[2] = 3;", ["simple"]),
        ("S { [] { f(x); } };", ["simple lambda [block{ [simple]]"]),
        ("exit(1);", ["simple!"]),
        ("if (n) f(x);", ["if(n) [simple]"]),
        ("if (n) return; else f(x);", ["if!(n) [simple!^] else [simple]"]),
        ("if constexpr (n) f(x);", ["if [simple]"]),
        ("if (!n) f(x);", ["if(!n) [simple]"]),
        ("if ! consteval { f(x); }", ["simple!"]),
        ("if (int a = n) f(x);", ["if [simple]"]),
        ("if (int a = n; a) f(x);", ["if [simple]"]),
        ("if ((x[0] = n)) f(x);", ["if((x[0] = n)) [simple]"]),
        ("if (n) for (;;) f(x); g(x);", ["if(n) [loopendless [simple]]", "simple"]),
        ("if (n) if (x) f(x); else g(x);", ["if(n) [if(x) [simple] else [simple]]"]),
        ("if (alignas(8) int a = n) f(x);", ["if [simple]"]),
        ("if (n)", ["simple!"]),
        ("if (n) f(x)", ["simple!"]),
        ("if (n) a: f(x);", ["simple!"]),
        ("if (n) { ; } else { return; }", ["if!(n) [block{ [simple~]] else [block!^{ [simple!^]]"]),
        ("for (int i = 0; i < n; ++i) f(x);", ["loop(i < n) [simple]"]),
        ("for (;;) continue;", ["loopendless [simple!^]"]),
        ("for (;;) break;", ["loop!endless [simple!^]"]),
        ("for (int i[] = {0, 1}; n; f(x, n)) f(x);", ["loop(n) [simple]"]),
        ("for (f([] { a; }); n; ++n) f(x);", ["loop(n) [simple] lambda [block{ [simple]]"]),
        ("for (int i : x) f(i);", ["loop [simple]"]),
        ("while (n--) f(x);", ["loop(n--) [simple]"]),
        ("while (true) f(x);", ["loopendless [simple]"]),
        ("while (1) f(x);", ["loopendless [simple]"]),
        ("while (0) f(x);", ["loopsingle(0) [simple]"]),
        ("do f(x); while (n);", ["do(n) [simple]"]),
        ("do { f(x); } while (false); g(x);", ["dosingle(false) [block{ [simple]]", "simple"]),
        ("do { f(x); } while (1)", ["doendless [block{ [simple]]"]),
        ("do f(x);", ["simple!"]),
        ("do f(x); until (n);", ["simple!", "simple"]),
        (
            "switch (n) { case 1: f(x); break; case (a ? 2 : 3): default: g(x); }",
            ["switch! [block!{ [case] [simple] [simple!^] [case] [case] [simple]]"],
        ),
        ("switch (n) case 1: f(x);", ["simple!"]),
        ("switch (n) f(x);", ["simple!"]),
        ("switch (n) { case 1 }", ["switch [block{ [case]]"]),
        ("switch (n) { case f(): g(x); }", ["switch [block{ [case] [simple]]"]),
        ("switch (n) { case sizeof(a ? b : c): f(x); }", ["switch [block{ [case] [simple]]"]),
        ("again: f(x);", ["label~", "simple"]),
        ("try { f(x); } catch (...) { }", ["simple!"]),
        ("[[likely]] f(x);", ["simple"]),
        ("[[fallthrough]]; f(x);", ["fallthrough~", "simple"]),
        ("[[fallthrough]]", ["fallthrough~"]),
        ("\n#if A\nf(x);\n#endif\n", ["condition~", "simple", "condition~"]),
        ("int a;", ["simple~"]),
        ("int a = 1;", ["simple"]),
        ("int a(1);", ["simple"]),
        ("int a{1};", ["simple"]),
        ("int a[f(x)];", ["simple~"]),
        ("int a[2] = {n};", ["simple"]),
        ("n++;", ["simple"]),
        ("--n;", ["simple"]),
        ("n;", ["simple"]),
        ("a<int> b;", ["simple~"]),
        ("a<b<c>> d;", ["simple~"]),
        ("a<(1 > 0)> b;", ["simple"]),
        ("a::b<int>* c;", ["simple~"]),
        ("a::b c;", ["simple~"]),
        ("a::b;", ["simple"]),
        ("unsigned long a, b;", ["simple~"]),
        ("a * b;", ["simple~"]),
        ("a + b;", ["simple"]),
        ("a < b;", ["simple"]),
        ("a & b;", ["simple~"]),
        ("int alignas(8) a;", ["simple~"]),
        ("int a __align__(8);", ["simple~"]),
        ("*x;", ["simple"]),
        ("using a = b;", ["simple~"]),
        ("typedef int a;", ["simple~"]),
        ("static_assert(n == 1);", ["simple~"]),
        ("asm volatile (\"trap;\");", ["simple!"]),
        ("struct S { int a; __device__ S() { f(x); } } s; g(x);", ["simple", "simple"]),
        ("S { n };", ["simple"]),
    ],
)  # fmt: skip
def test_shapes_of_statements(body, expected):
    assert shapes(body) == expected


@pytest.mark.parametrize(
    ("before", "body", "expected"),
    [
        ("EACH(i) for (int i = 0; i < 3; ++i)", "EACH(i) f(x);", ["macro{ [simple]"]),
        ("EACH(i) for (int i = 0; i < 3; ++i)", "EACH(i) { f(x); }", ["macro{ [block{ [simple]]"]),
        ("EACH(i) for (int i = 0; i < 3;)", "if (n) EACH(i) f(x);", ["if(n) [macro{ [simple]]"]),
        ("EACH(i) f(i); while (i)", "EACH(i) f(x);", ["macro{ [simple]"]),
        ("CALL(i) f(i)", "CALL(i) f(x);", ["macro [simple]"]),
        ("CALL(i) f(i)", "CALL(i) { f(x); }", ["macro{ [block{ [simple]]"]),
        ("CALL(i) f(i)", "if (n) CALL(i) f(x);", ["simple!"]),
        ("CALL(i) f(i);", "CALL(i) f(x);", ["simple", "simple"]),
        ("CALL(i) { f(i); }", "CALL(i) f(x);", ["simple", "simple"]),
        ("CALL(i) f(i)", "CALL(i)", ["simple"]),
        ("CALL(i) f(i)", "{ CALL(i) }", ["block{ [simple]"]),
        ("CALL(i) f(i)", "x.CALL(i) f(x);", ["simple"]),
        ("CALL(i) f(i)", "(CALL)(i) f(x);", ["simple"]),
        ("LEAVE return", "LEAVE;", ["simple!"]),
        ("LEAVE GO\n#define GO return", "if (n) LEAVE;", ["if!(n) [simple!]"]),
        ("STAY n", "STAY;", ["simple"]),
        ("WHEN(c) if (c) f(x)", "if (n) WHEN(n); g(x);", ["simple!", "simple"]),
        ("WHEN(c) if (c) f(x)", "if (n) f(x); WHEN(n);", ["if(n) [simple]", "simple"]),
        ("WHEN(c) c", "if (n) WHEN(n); g(x);", ["if(n) [simple]", "simple"]),
        ("NEXT", "while (n)\n#if A\nf(x);\n#endif\n", ["simple!", "condition~"]),
    ],
)  # fmt: skip
def test_shapes_with_macros(before, body, expected):
    assert shapes(body, f"#define {before}\n") == expected


TEXT = """\
#define EACH(i) for (int i = 0; i < 3; ++i)
__global__
void k(int* x)
{
  if (x &&
      x[0])
    f(x);
#if A
  else if (x)
    g([] {
      return 1;
    });
#endif
  EACH(i
      ) {
    h(i); }
  do { f(x);
  } while (x[0] < 3
  );
  switch (x[1]) {
    case 1: f(x);
    default: [[fallthrough]];
  }
  for (;;)
    try { a: f(x); }
}
"""


def rows(statement, text):
    words = text[statement.start : statement.end].split()
    lines = statement.line, statement.header_line, statement.last_line
    yield statement.kind, words[0], words[-1], *lines
    for part in [*statement.body, *(function.body for function in statement.functions)]:
        yield from rows(part, text)


def test_places_of_statements():
    (function,) = functions_in(TEXT)
    assert list(rows(function.body, TEXT)) == [
        ("block", "{", "}", 2, 4, 26),
        ("simple", "if", "});", 5, 5, 12),
        ("condition", "#endif", "#endif", 13, 13, 13),
        ("macro", "EACH(i", "}", 14, 15, 16),
        ("block", "{", "}", 15, 15, 16),
        ("simple", "h(i);", "h(i);", 16, 16, 16),
        ("do", "do", ");", 18, 19, 19),
        ("block", "{", "}", 17, 17, 18),
        ("simple", "f(x);", "f(x);", 17, 17, 17),
        ("switch", "switch", "}", 20, 20, 23),
        ("block", "{", "}", 20, 20, 23),
        ("case", "case", "1:", 21, 21, 21),
        ("simple", "f(x);", "f(x);", 21, 21, 21),
        ("case", "default:", "default:", 22, 22, 22),
        ("fallthrough", "[[fallthrough]];", "[[fallthrough]];", 22, 22, 22),
        ("loop", "for", "}", 24, 24, 25),
        ("simple", "try", "}", 25, 25, 25),
    ]


def test_the_beginning_of_a_text_is_parsed():
    for end in range(len(TEXT)):
        for function in functions_in(TEXT[:end]):
            assert function.line == 2
            assert all(row[-1] <= 26 for row in rows(function.body, TEXT))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if 0\nf();\n#else\ng();\n#endif", ["#if", "#else", "g();", "#endif"]),
        ("#if A\nf();\n#elif 0\ng();\n#endif", ["#if", "f();", "#elif", "#endif"]),
        ("#if A\nf();\n#elif B\ng();\n#endif", ["#if", "f();", "#elif", "g();", "#endif"]),
        ("#if 0\n#if B\n#endif\nf();\n#endif\ng();", ["#if", "#endif", "g();"]),
        ("#if A\n#if 0\n#endif\nf();\n#endif", ["#if", "#if", "#endif", "f();", "#endif"]),
        ("#if A\nf([)];\n#else\ng();\n#endif", ["#if", "f([)];", "#else", "#endif"]),
        ("#if A\nf(}\n#else\ng();\n#endif\n);", ["#if", "f(}", "#else", "#endif", ");"]),
    ],
)
def test_alternatives_that_no_compiler_reads_are_left_out(text, expected):
    tokens = Source(f"{text}\n").tokens
    words = [token.text.split()[0] if token.kind == "condition" else token.text for token in tokens]
    assert "".join(words) == "".join(expected)


@pytest.mark.parametrize(
    ("text", "is_executable", "has_type"),
    [
        ("using t = int", False, True),
        ("int a", False, True),
        ("int a = 1", True, True),
        ("a::b c", False, True),
        ("a<int> b[2]", False, True),
        ("int* a", False, True),
        ("f(x)", True, False),
        ("a", True, False),
        ("a::b", True, False),
        ("a + b", True, False),
        ("1", True, False),
        ("return", True, False),
    ],
)
def test_declarations_and_expressions(text, is_executable, has_type):
    tokens = Source(text).tokens
    assert _is_executable(tokens) == is_executable
    assert _has_type(tokens) == has_type


def test_nothing_is_not_executable():
    assert _is_executable([]) is False


@pytest.mark.parametrize(
    ("text", "expected"), [("f(x[1]) {}", True), ("f(", False), ("f)", False), ("f(])", False)]
)
def test_brackets_that_belong_together(text, expected):
    assert _is_balanced(Source(text).tokens) is expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("'__device__ {'", True),
        ("b'__device__ {'", True),
        ("f'__global__ {{ {x}'", True),
        ("'__device__'", False),
        ("'{'", False),
        ("5", False),
        ("x", False),
    ],
)
def test_a_literal_with_a_mark_and_a_brace_may_be_a_kernel(literal, expected):
    assert _is_text(ast.parse(literal).body[0].value) is expected
