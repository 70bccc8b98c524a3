# SPDX-License-Identifier: Apache-2.0
"""A type checker accepts the code of the README, of the guide and of the reference."""

import re

from ..docs.test_code_blocks import PAGES, ROOT, blocks_of

OTHER_PACKAGES = re.compile(r'Import "(cupy|torch|numba|nvtx|fastfill)[."]')


def test_pyright_accepts_the_code_of_the_guide(run_pyright, tmp_path):
    for page in PAGES:
        (tmp_path / f"{page.stem.lower()}.py").write_text("\n".join(blocks_of(page)))
    wrong = {
        (path.name, line): message
        for path, messages in run_pyright([tmp_path]).items()
        for line, message in messages.items()
        if not OTHER_PACKAGES.match(message)
    }
    assert wrong == {}


def test_pyright_accepts_the_examples_of_the_reference(run_pyright):
    assert run_pyright([ROOT / "docs" / "reference"]) == {}
