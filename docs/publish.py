# SPDX-License-Identifier: Apache-2.0
"""python -m docs.publish BUILT SITE

Copies built pages into the site in a folder with their version, beside older versions. `stable`
and the first page redirect to the newest version; every page shows the list `versions.js`.
"""

import json
import re
import shutil
import sys
from pathlib import Path

REDIRECT = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}/">\n'
)


def version_of(built):
    """Return the version in the built pages."""
    match = re.search(r'data-version="([^"]+)"', (built / "index.html").read_text("utf-8"))
    return match[1]


def number(version):
    """Return a sort key: 0.10.0 is newer than 0.9.0, and 1.0 newer than 1.0rc1."""
    return [int(part) if part.isdigit() else -1 for part in re.findall(r"\d+|[a-z]+", version)] + [
        0
    ]


def publish(built, site):
    """Add the built pages to the site; return the site's versions, newest first."""
    target = site / version_of(built)
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(built, target)
    versions = [p.name for p in site.iterdir() if (p / "objects.inv").exists()]
    versions.sort(key=number, reverse=True)
    (site / "versions.js").write_text(f"window.halfwarpVersions = {json.dumps(versions)};\n")
    (site / "index.html").write_text(REDIRECT.format(versions[0]))
    (site / "stable").mkdir(exist_ok=True)
    (site / "stable" / "index.html").write_text(REDIRECT.format(f"../{versions[0]}"))
    return versions


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    print("\n".join(publish(*map(Path, arguments))))


if __name__ == "__main__":
    main(sys.argv[1:])
