# SPDX-License-Identifier: Apache-2.0
"""Places of marks in CUDA C++ text, and the texts of kernels in Python source."""

import pytest

from halfwarp.coverage.literals import _read_segment, find_literals
from halfwarp.coverage.marks import MarkedText
from halfwarp.coverage.origins import Origins


def marked(body, before=""):
    """Return a body with marks, numbered from 1, and its head removed."""
    text = MarkedText(f"{before}__global__ void k(int* x, int n) {{{body}}}").with_marks(1)
    return text.partition("int n) {")[2].replace("__halfwarp_mark", "M").replace("();", ";")[:-1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x[0] = 1;", "M<1>; x[0] = 1;"),
        ("if (n) f(x);", "M<1>; if (n) { M<2>; f(x); }"),
        ("if (n) return; f(x);", "M<1>; if (n) { M<2>; return; } f(x);"),
        ("if (n) n = 1;", "if (__halfwarp_test<2>((n) ? true : false)) n = 1;"),
        (
            "f(x); if (n) n = 1;",
            "M<1>; f(x); if (__halfwarp_test<2>((n) ? true : false)) n = 1;",
        ),
        (
            "int a[2]; if (n) a[0] = 1;",
            "int a[2]; if (__halfwarp_test<2>((n) ? true : false)) a[0] = 1;",
        ),
        ("if (n) x[0] = 1;", "M<1>; if (n) { M<2>; x[0] = 1; }"),
        ("do f(x); while (0); x[1] = n;", "M<1>; do f(x); while (0); x[1] = n;"),
        (
            "do { if (n) break; f(x); } while (0);",
            "M<1>; do { if (n) { M<2>; break; } f(x); } while (0);",
        ),
        ("x[0] = 1; \\\r\n x[1] = 2;", "M<1>; x[0] = 1; \\\r\n x[1] = 2;"),
        ("f(x); // \\\r\n { \n x[1] = 2;", "M<1>; f(x); // \\\r\n { \n x[1] = 2;"),
        ("for (;;) f(x);", "M<1>; for (;;) { M<2>; f(x); }"),
        ("while (n) break;", "M<1>; while (((n) ? true : (M<2>(), false))) { M<3>; break; }"),
        ("again: f(x);", "M<1>; again: M<2>; f(x);"),
        ("[[fallthrough]]; f(x);", "M<1>; /*[[fallthrough]];*/ f(x);"),
        (
            "switch (n) { case 1: f(x); default: g(x); }",
            "M<1>; switch (n) { if (0) { case 1: M<2>; } M<3>; f(x); "
            "if (0) { default: M<4>; } M<5>; g(x); }",
        ),
    ],
)
def test_marks_are_before_what_they_count(body, expected):
    assert marked(body) == expected


def places(body, before=""):
    """Return the sums of marks, from 1, with their lines and branches."""
    text = MarkedText(f"{before}__global__ void k(int* x, int n) {{\n{body}}}")
    return [
        (
            "".join(f"{sign:+}"[0] + str(index + 1) for index, sign in sorted(place.terms.items())),
            sorted(place.lines - {0}),
            sorted(place.arcs),
        )
        for place in text.places
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "do {\n if (n) break;\n f(x);\n} while (x[0]);\ng(x);",
            [
                ("+1", [], []),
                ("+2", [3], []),
                ("+3", [3], [(3, -3)]),
                ("+2-3", [4], [(3, 4)]),
                ("+4", [5], [(5, 3)]),
                ("+5", [5], [(5, 6)]),
                ("+6", [6], []),
            ],
        ),
        (
            "do {\n if (n) break;\n f(x);\n} while (true);\ng(x);",
            [
                ("+1", [], []),
                ("+2", [3], []),
                ("+3", [3], [(3, -3)]),
                ("+2-3", [4], [(3, 4)]),
                ("+4", [6], []),
            ],
        ),
        ("do\n f(x);\nwhile (0);\ng(x);", [("+1", [3, 5], [])]),
        (
            "do\n f(x);\nwhile (n);\ng(x);",
            [("+1", [5], [(4, 5)]), ("+2", [3, 4], []), ("-1+2", [], [(4, 3)])],
        ),
        (
            "if (n)\n n = 1;\nelse\n n = 2;\ng(x);",
            [("+2+3", [2, 6], []), ("+2", [3], [(2, 3)]), ("+3", [5], [(2, 5)])],
        ),
        (
            "switch (n) {\n case 1:\n  switch (x[0]) { default: ; }\n case 2:\n ;\n}\ng(x);",
            [
                ("+1", [2], []),
                ("+2", [3], [(2, 3)]),
                ("+3", [4], []),
                ("+4", [4], [(4, -4)]),
                ("+5", [], []),
                ("+6", [5], [(2, 5)]),
                ("+7", [], []),
                ("+1-2-6", [], [(2, 8)]),
                ("+8", [8], []),
            ],
        ),
    ],
)
def test_marks_of_lines_and_branches(body, expected):
    assert places(body) == expected


@pytest.mark.parametrize(
    ("following", "line"),
    [
        ("g(x);", 4),
        ("g(x);\ng(x);", 4),
        ("do\n g(x);\nwhile (n);", 5),
        ("do\n ;\nwhile (n);", 6),
        ("do\n ;\nwhile (0);\ng(x);", 7),
        ("{ }\na:\n;\nint b;\ng(x);", 8),
        ("\n#if A\n#endif\ng(x);", 7),
        ("int b;", -1),  # the end of the function
    ],
)
def test_what_is_not_taken_branches_to_the_next_line_that_counts(following, line):
    assert ("+1-2", [], [(2, line)]) in places(f"if (n)\n f(x);\n{following}")


def test_a_macro_before_a_statement_shares_its_mark():
    macro = "#define CALL(i) f(i)\n"
    assert places("CALL(1)\nf(x);\ng(x);", macro) == [("+1", [3, 4], []), ("+2", [5], [])]


def test_a_macro_that_is_the_head_of_a_loop_has_a_mark_in_its_body():
    macro = "#define LOOP(i) for (i = 0; i < 2; i++)\n"
    assert marked("LOOP(n) { f(x); }", macro) == "M<1>; LOOP(n) { M<2>; f(x); }"
    assert marked("LOOP(n) f(x);", macro) == "M<1>; LOOP(n) { M<2>; f(x); }"


def test_the_spans_that_a_comment_on_their_head_excludes():
    """The function, an `if`, a loop and a `switch` have one: first line, end of head, last line."""
    body = "\nif (n\n) {\nf(x);\n}\nwhile (n) {\nf(x);\n}\nswitch (n) {\ncase 1: ;\n}\nf(x);\n"
    text = MarkedText(f"__global__ void k(int* x,\nint n) {{{body}}}")
    assert [(each.first, each.head, each.last) for each in text.spans] == [
        (1, 2, 14),
        (3, 4, 6),
        (7, 7, 9),
        (10, 10, 12),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "if (n) RETURN_IF(n) f(x);",  # is f in the branch?
        "if (n) LOOP(i) f(x); else g(x);",
        "if (n)\n#ifdef A\n f(x);\n#else\n g(x);\n#endif\n",
        "if (n) { f(x); }\n#ifdef A\n else { g(x); }\n#endif\n",
    ],
)
def test_an_unclear_branch_has_no_marks(body):
    assert marked(body).startswith("M<1>; " + body.split("\n")[0])


def test_a_macro_with_an_if_gets_no_braces():
    before = "#define WHEN(c) if (c) f(x)\n"
    assert marked("if (n) WHEN(n); else g(x);", before) == "M<1>; if (n) WHEN(n); else g(x);"


@pytest.mark.parametrize(
    ("branch", "lines"), [("f(x);", {2, 4}), (";", {2, 4}), ("{ f(x); }", {2, 4}), ("return;", {2})]
)
def test_what_follows_a_branch_counts_unless_the_branch_leaves(branch, lines):
    text = MarkedText(f"__global__ void k(int* x, int n) {{\n  if (n)\n    {branch}\n  g(x);\n}}")
    (before,) = (place for place in text.places if 2 in place.lines)
    assert before.lines == lines


def test_alternatives_that_open_a_brace_twice_are_one():
    body = "\n#ifdef A\nif (n) {\n#else\nif (!n) {\n#endif\nf(x);\n}\ng(x);"
    assert MarkedText(f"__global__ void k(int* x, int n) {{{body}}}").lines == {3, 7, 9}


def test_strings_and_comments_are_no_code():
    text = '__global__ void k() {\n  f("} if (", \'{\'); // if (x) {\n  /* } */ g(R"(\n)");\n}'
    assert MarkedText(text).lines == {2, 3}


def test_a_host_function_and_a_declaration_do_not_count():
    text = "void host() { f(); }\n__device__ int g(int);\nstruct S { int x = 1; };\n"
    assert MarkedText(text).lines == set()


def lines_of_literals(source):
    return [
        {literal.line(line) for line in MarkedText(literal.text).lines}
        for literal in find_literals(source)
    ]


def test_escapes_and_adjacent_strings_have_their_lines():
    source = (
        "x = 1\n"
        "code = ('__global__ void k() {\\n'\n"
        "        '  f();\\n'  # a comment\n"
        '        "  g(\\"a\\\\n\\"); \\\n h();\\n}")\n'
    )
    assert lines_of_literals(source) == [{3, 4}]


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('f"{mark} k() {{ f({ {1: 2}[1] }, {n}); }}"', "0 k() { f(0, 0); }"),
        ('rf"{mark} k() {{ f({n!r:>{width}}); }}\\n"', "0 k() { f(0); }\\n"),
        ('b"__device__ k() {\\t\\x41\\101; }"', "__device__ k() {\tAA; }"),
        ('"__device__ k() { \\\n}"', "__device__ k() { }"),
        ('r"a\\"bc" "d"', 'a\\"bcd'),
    ],
)
def test_a_literal_is_evaluated_with_zeros_for_expressions(literal, text):
    assert _read_segment(literal, 1, 1).text == text


def test_an_expression_without_an_end_reaches_to_the_end():
    assert _read_segment('f"a {b"', 1, 1).text == "a 0"


def test_lines_in_triple_quotes():
    source = "a = (f'''__global__ void k({a}) {{\n  f();\n\n  g();\n}}\n'''\n  '\\n')"
    assert lines_of_literals(source) == [{2, 4}]


def test_a_formatted_text_is_one_literal():
    assert lines_of_literals('a = f"__global__ void k() {{ f(); }}{b}"\n') == [{1}]


def test_a_text_without_a_body_or_a_mark_is_no_kernel():
    assert lines_of_literals("a = '__global__'\nb = 'void k() { f(); }'\n") == []


def test_a_docstring_is_no_kernel():
    source = 'def f():\n    """__global__ void k() { f(); }"""\n    return b"__device__ int k;"\n'
    assert lines_of_literals(source) == []


def test_a_formatted_text_is_found_by_its_neighbors(tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_text("__global__ void k(TYPE* x) {\n  x[0] = 1;\n  x[VALUE] = 2;\n  x[2] = 3;\n}\n")
    program = path.read_text().replace("VALUE", "7").replace("TYPE", "int")
    origins = Origins(lambda path: path.endswith(".cu"), lambda: [str(tmp_path)])
    places = origins.find("#define A\n" + program, "program")
    assert places[4] == (str(path), 3)
    assert places[5] == (str(path), 4)
    assert 1 not in places


KERNEL = "__global__ void k(int* x) {\n  f(x);\n  g(x);\n}"
DECLARATIONS = """
int a[] = {1, 2};
enum e { one, two };
enum class f : int { one };
struct S { int x{3}; int y = 4; };
typedef struct { int x; } T;
struct C { C(int v) : x{v}, y(v) {} int x, y; };
template <class T, int n = 3> struct D {};
namespace n { int c; }
class P { public: P(); private: int q; };
int host(int v) { if (v) return 1; return 2; }
__device__ int h(int);
bool operator==(S, S);
bool operator()(int) { return true; }
int e __attribute__((aligned(8)));
static int (*p)(int) = nullptr;
struct __align__(16) A { int x; };
struct alignas(16) B { int x; };
""".strip().splitlines()


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_a_declaration_does_not_change_the_kernel_after_it(declaration):
    for before in (declaration, declaration * 2, f"{declaration} int z; {declaration}"):
        assert MarkedText(f"{before} {KERNEL}").lines == {2, 3}


@pytest.mark.parametrize(
    "head",
    [
        "__device__ auto f(int* x) -> int",
        "__device__ auto f(int* x) -> D<int>",
        "struct S { S(int* x); }; __device__ S::S(int* x) : x{x}, y{x}",
        "struct S { __device__ int f(int* x) const",
        "__device__ int f(int* x) noexcept",
    ],
)
def test_what_stands_between_parameters_and_body_does_not_hide_the_body(head):
    assert MarkedText(f"{head} {{\n  f(x);\n  g(x);\n}}\n").lines == {2, 3}


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("struct L { int v; L() {} };", {2, 3}),
        ("enum e { one, two };", {3}),
        ("using t = int;", {3}),
        ("auto l = [](int v) { return v; };", {2, 3}),
    ],
)
def test_a_local_declaration_does_not_change_what_follows(statement, lines):
    assert MarkedText(f"__global__ void k(int* x) {{\n{statement}\nf(x);\n}}").lines == lines
