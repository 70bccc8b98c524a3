# SPDX-License-Identifier: Apache-2.0
"""python -m docs.publish BUILT SITE

Puts built pages into the site under the number of their version, beside the older ones. `stable`
and the first page lead to the newest version; `versions.js` is the list that every page shows.
"""

import json
import re
import shutil
import sys
from pathlib import Path

GOES_TO = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}/">\n'


def version_of(built):
    """As the pages say it."""
    found = re.search(r'data-version="([^"]+)"', (built / "index.html").read_text("utf-8"))
    return found[1]


def number(version):
    """For sorting: 0.10.0 is newer than 0.9.0, and 1.0 than 1.0rc1."""
    return [int(part) if part.isdigit() else -1 for part in re.findall(r"\d+|[a-z]+", version)] + [
        0
    ]


def publish(built, site):
    """The versions that the site has now, the newest first."""
    target = site / version_of(built)
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(built, target)
    versions = [p.name for p in site.iterdir() if (p / "objects.inv").exists()]
    versions.sort(key=number, reverse=True)
    (site / "versions.js").write_text(f"window.halfwarpVersions = {json.dumps(versions)};\n")
    (site / "index.html").write_text(GOES_TO.format(versions[0]))
    (site / "stable").mkdir(exist_ok=True)
    (site / "stable" / "index.html").write_text(GOES_TO.format(f"../{versions[0]}"))
    return versions


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    print("\n".join(publish(*map(Path, arguments))))


if __name__ == "__main__":
    main(sys.argv[1:])
