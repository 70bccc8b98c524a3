# SPDX-License-Identifier: Apache-2.0
"""The built pages in a browser at three widths: nothing is wider than the page or cut off.

The test uses the pages of the tree's last build, or builds them, if Playwright is installed and
finds Chromium: its own, or the system's.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDTHS = {"telephone": 390, "tablet": 820, "desktop": 1440}
TOO_WIDE = """() => {
  const found = [], right = document.documentElement.clientWidth + 1;
  if (document.documentElement.scrollWidth > right) found.push("the page is wider than the window");
  for (const block of document.querySelectorAll("pre")) {
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(block).overflowX);
    const text = block.innerText.slice(0, 30);
    if (block.scrollWidth > block.clientWidth + 1 && !scrolls) found.push(`cut off: ${text}`);
    if (block.getBoundingClientRect().right > right) found.push(`beyond the window: ${text}`);
  }
  for (const image of document.querySelectorAll("img"))
    if (!image.naturalWidth) found.push(`no picture: ${image.src}`);
  return found;
}"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the pages; HALFWARP_SITE names an existing build."""
    pytest.importorskip("playwright", reason="Playwright is not installed: pip install playwright")
    if built := os.environ.get("HALFWARP_SITE"):
        return Path(built).resolve()
    pytest.importorskip("furo", reason="Furo is not installed: pip install halfwarp[docs]")
    folder = tmp_path_factory.mktemp("html")
    subprocess.run([sys.executable, "-m", "sphinx", "-q", str(DOCS), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import Error, sync_playwright

    system = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_playwright() as started:
        try:
            started_browser = started.chromium.launch(executable_path=system, args=["--no-sandbox"])
        except Error as error:
            pytest.skip(f"there is no Chromium: {str(error).splitlines()[0]}")
        yield started_browser
        started_browser.close()


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_nothing_is_cut_off(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    mistakes = []
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    paths = [p for p in sorted(site.rglob("*.html")) if not {"_static", "source"} & {*p.parts}]
    assert len(paths) > 60
    for path in paths:
        page.goto(path.as_uri())
        name = path.relative_to(site).as_posix()
        mistakes += [f"{name}: {each}" for each in page.evaluate(TOO_WIDE)]
    page.close()
    assert mistakes == []


def test_a_clipped_code_block_is_found(site, browser):
    """Verify the check itself, on a page with the mistake."""
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.set_content(f"<pre style='overflow: hidden; width: 300px'>{'x' * 400}</pre>")
    assert any(each.startswith("cut off: xxx") for each in page.evaluate(TOO_WIDE))
    page.set_content(f"<pre style='width: 3000px'>{'x' * 40}</pre>")
    assert any(each.startswith("beyond the window") for each in page.evaluate(TOO_WIDE))
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_both_color_schemes_and_a_search(site, browser, scheme):
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    page.goto((site / "index.html").as_uri())
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    channels = [int(part) for part in background.strip("rgba()").split(",")[:3]]
    assert (sum(channels) > 384) == (scheme == "light")
    assert page.locator("input[name=q]").count() >= 1
    page.close()


def test_the_side_bar_lists_the_versions_of_the_site(site, browser, tmp_path):
    """A local build has the version of its own."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto((site / "index.html").as_uri())
    page.wait_for_selector(".versions select option", state="attached")
    current = page.locator(".versions select").get_attribute("data-version")
    assert page.locator(".versions option").all_inner_texts() == [current]
    folder = tmp_path / current
    folder.mkdir()
    shutil.copytree(site / "_static", folder / "_static")
    shutil.copy(site / "index.html", folder)
    (tmp_path / "versions.js").write_text(f'window.halfwarpVersions = ["99.0", "{current}"];\n')
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector(".versions select option", state="attached")
    assert page.locator(".versions").is_visible()
    assert page.locator(".versions option").all_inner_texts() == ["99.0", current]
    assert page.locator(".versions select").input_value() == current
    page.close()


def test_a_title_on_a_telephone_breaks_between_words(site, browser):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    for name in ("guide/troubleshooting", "guide/environment", "generated/examples/occupancy"):
        page.goto((site / f"{name}.html").as_uri())
        wide = page.evaluate(
            "[...document.querySelectorAll('h1, h2')].filter(h => {"
            " const r = document.createRange(); r.selectNodeContents(h);"
            " const word = Math.max(...h.innerText.split(/\\s+/).map(w => w.length));"
            " const size = parseFloat(getComputedStyle(h).fontSize);"
            " return word * size * 0.75 > h.clientWidth; }).map(h => h.innerText)"
        )
        assert wide == [], name
    page.close()


def test_rows_of_a_table_are_paragraphs_on_a_telephone(site, browser):
    """Names of 26 letters are not cut into pieces of ten."""
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto((site / "guide" / "troubleshooting.html").as_uri())
    cells = page.locator("table.docutils td:first-child")
    assert cells.count() > 10
    widths = cells.evaluate_all("all => all.map(each => each.getBoundingClientRect().width)")
    assert min(widths) > 300
    page.close()
