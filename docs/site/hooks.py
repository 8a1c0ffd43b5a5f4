"""What mkdocs puts into the site: the pages of mkdocs.yml and every file that they lead to, each at its own path.

So a link in README.md or in a page of docs/ works in the site as it does on GitHub, and no link is rewritten.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
#: The target of a link or picture, without its anchor, in Markdown and in HTML.
TARGETS = re.compile(r"""(?:\]\(|(?:href|src)=["'])([^)"'#\s]+)""")
ROW = re.compile(r"^\|.*", re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files of docs/ by those of the repository that the navigation leads to."""
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    own = [path.relative_to(ROOT).as_posix() for path in Path(__file__).parent.glob("*.[cj]s*")]
    for path in reachable([*pages(config.nav), *own]):
        # The reports have an index.html of their own beside README.md; only the first page is mkdocs's.
        dest = path.replace("README.md", "README.html") if path.endswith("/README.md") else None
        files.append(File(path, str(ROOT), config.site_dir, use_directory_urls=False, dest_uri=dest))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Adapt what Python-Markdown reads otherwise than GitHub: a bar within code in a table is written ``\\|`` there."""
    if page.file.src_uri.startswith(("docs/api/", "reports/")):
        page.meta["search"] = {"boost": 0.3}  # what explains comes first
    return ROW.sub(lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), markdown)


def pages(nav: Any) -> list[str]:
    """The paths of a navigation."""
    if isinstance(nav, str):
        return [nav]
    return [page for one in (nav.values() if isinstance(nav, dict) else nav) for page in pages(one)]


def reachable(paths: list[str]) -> list[str]:
    """These files of the repository and all to which they lead, sorted; what does not exist is mkdocs's to report."""
    found: set[str] = set()
    while paths:
        path = paths.pop()
        if path in found:
            continue
        found.add(path)
        file = ROOT / path
        if file.suffix not in (".md", ".html"):
            continue
        for target in TARGETS.findall(file.read_text(encoding="utf-8")):
            there = (file.parent / target).resolve()
            if there.is_file() and there.is_relative_to(ROOT):
                paths.append(there.relative_to(ROOT).as_posix())
    return sorted(found)
