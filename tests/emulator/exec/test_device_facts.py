# SPDX-License-Identifier: Apache-2.0
"""Output and special registers of kernels follow the device."""

import textwrap

import pytest

CODE = """
    import ctypes, sys
    from cuda.core import Device, LaunchConfig, ObjectCode, launch
    head = ".version 8.0\\n.target sm_75\\n.address_size 64\\n"
    device = Device()
    device.set_current()
    stream = device.create_stream()
    def run(text, *arguments, grid=1):
        kernel = ObjectCode.from_ptx((head + text).encode()).get_kernel("k")
        launch(stream, LaunchConfig(grid=grid, block=1), kernel, *arguments)
        stream.sync()
"""
PRINT = """
    format, values = sys.argv[1].encode() + b"\\0", bytes.fromhex(sys.argv[2])
    run(f'''
        .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .align 1 .b8 text[{len(format)}] = {{{", ".join(map(str, format))}}};
        .global .align 8 .b8 list[{len(values)}] = {{{", ".join(map(str, values))}}};
        .visible .entry k() {{
            .reg .b64 a; .param .b64 f; .param .b64 v; .param .b32 count;
            mov.u64 a, text; cvta.global.u64 a, a; st.param.b64 [f], a;
            mov.u64 a, list; cvta.global.u64 a, a; st.param.b64 [v], a;
            call (count), vprintf, (f, v); ret; }}''')
"""


def printed(run_emulated, text, values):
    return run_emulated(CODE + PRINT, text, values.hex()).stdout


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("<%*d>", (7, 21), "<     21>"),
        ("<%*u|%-*x>", (3, 5, 4, 255), "<  5|ff  >"),
        ("<%*d>", (-4, 6), "<6   >"),
        ("<%.*d>", (1, 2), "<%.*d>"),
        ("<%p|%p>", (0xFEDC, 0, 0, 0), "<0xfedc|(nil)>"),
        ("<%8p>", (0, 0), "<   (nil)>"),
    ],
)
def test_widths_and_pointers_are_those_of_a_gpu(run_emulated, text, values, expected):
    data = b"".join(value.to_bytes(4, "little", signed=value < 0) for value in values)
    assert printed(run_emulated, text, data) == expected


@pytest.mark.parametrize("text", ["%3000000000d", "%.3000000000d", "%*d"])
def test_a_width_is_limited(run_emulated, text):
    data = (2**31 - 1).to_bytes(4, "little") * 2
    assert 60_000 < len(printed(run_emulated, text, data)) < 70_000


@pytest.mark.parametrize("count", [2, 37])
def test_the_multiprocessors_are_those_of_the_device(run_emulated, count):
    code = """
        out = device.allocate(8, stream=stream)
        out.fill(0, stream=stream)
        run('''.visible .entry k(.param .u64 p) {
            .reg .b32 a; .reg .b64 out; ld.param.u64 out, [p];
            mov.u32 a, %nsmid; st.global.u32 [out], a;
            mov.u32 a, %smid; red.global.max.u32 [out+4], a; ret; }''', out, grid=200)
        host = (ctypes.c_uint32 * 2)()
        from cuda.bindings import driver
        driver.cuMemcpyDtoH(ctypes.addressof(host), int(out.handle), 8)
        print(*host)
    """
    code = textwrap.dedent(CODE) + textwrap.dedent(code)
    done = run_emulated(code, multiprocessors=count)
    assert done.stdout.split() == [str(count), str(count - 1)]


HALVES = """
    text = '''
        .visible .entry k(.param .u64 words) {
            .reg .b64 p, i; .reg .b32 b, t, n; .reg .b16 h;
            ld.param.u64 p, [words]; mov.u32 b, %ctaid.x; cvt.u32.u16 n, %ctaid.x;
            mov.u16 h, %nctaid.x; cvt.u32.u16 t, h; shl.b32 t, t, 16; or.b32 n, n, t;
            mul.wide.u32 i, b, 4; add.u64 p, p, i; st.global.u32 [p], n; ret; }'''
    from cuda.core import LegacyPinnedMemoryResource
    buffer = LegacyPinnedMemoryResource().allocate(4 * 70000)
    run(text, buffer, grid=70000)
    words = (ctypes.c_uint32 * 70000).from_address(int(buffer.handle))
    print([hex(words[n]) for n in (0, 1, 65535, 65536, 69999)])
"""


def test_a_register_of_16_bits_gets_the_lower_half(run_emulated):
    """Code before PTX 2.0 reads the block and the grid so. The grid of 70000 is 0x11170."""
    printed = run_emulated(CODE + HALVES).stdout
    words = ["0x11700000", "0x11700001", "0x1170ffff", "0x11700000", "0x1170116f"]
    assert printed.strip() == str(words)
