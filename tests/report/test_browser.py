"""The pages in a real browser: Debian's chromium, driven by chromedriver over its own protocol."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quartet.report.html.page import pages
from tests.committed import committed
from tests.report.synthetic import results
from tests.report.test_html import drawn

MISSING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' and '.join(MISSING)} (apt install)")
WIDTHS = {390: 844, 1366: 900}
#: In the page: how far it scrolls sideways, the links without a target, the cells of the first table, and its colours.
LOOK = """
const ids = new Set([...document.querySelectorAll('[id]')].map(one => one.id));
const links = [...document.querySelectorAll('a[href^="#"]')].map(one => decodeURIComponent(one.hash.slice(1)));
const cells = [...document.querySelectorAll('table')[0].querySelectorAll('tbody tr:first-child > *')].slice(0, 3);
return {
  sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  width: window.innerWidth,
  lost: links.filter(place => !ids.has(place)),
  links: links.length,
  cells: cells.map(one => {
    const box = one.getBoundingClientRect();
    return [one.textContent.trim(), box.left, box.right];
  }),
  page: getComputedStyle(document.body).backgroundColor,
  ink: getComputedStyle(document.body).color,
};
"""


class Browser:
    """A session of chromedriver."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self._post("/session", {"capabilities": {"alwaysMatch": wanted}})
        self._base += f"/session/{made['sessionId']}"

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self._base + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def devtools(self, command: str, **parameters: Any) -> None:
        """A command of the browser's own protocol."""
        self._post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path: Path, width: int, scheme: str) -> dict[str, Any]:
        """What a page looks like at a width, in a colour scheme."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=WIDTHS[width],
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.devtools(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
        )
        self._post("/url", {"url": path.as_uri()})
        while self._post("/execute/sync", {"script": "return document.readyState", "args": []}) != "complete":
            time.sleep(0.05)
        found: dict[str, Any] = self._post("/execute/sync", {"script": LOOK, "args": []})
        return found

    def errors(self) -> list[str]:
        """What the console has said since it was last asked."""
        said = self._post("/se/log", {"type": "browser"})
        return [entry["message"] for entry in said if entry["level"] in ("SEVERE", "WARNING")]

    def close(self) -> None:
        """Leave the session."""
        request = urllib.request.Request(self._base, method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen(
        ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            try:
                session = Browser(port)
                break
            except urllib.error.URLError:
                time.sleep(0.1)
        else:
            pytest.fail("chromedriver does not answer")
        yield session
        session.close()
    finally:
        driver.terminate()
        driver.wait()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two pages of the invented run, with parts on the second."""
    folder = tmp_path_factory.mktemp("pages")
    for name, text in pages(drawn(folder, results()), folder).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["index.html", "tables.html", "sample"])
def test_a_page_fits_says_no_error_and_keeps_its_links(
    name: str, width: int, scheme: str, browser: Browser, made: Path
) -> None:
    path = committed("reports/sample/index.html") if name == "sample" else made / name
    found = browser.open(path, width, scheme)
    assert found["width"] == width
    assert browser.errors() == []
    assert found["sideways"] <= 0, "the page scrolls sideways"
    assert found["links"] > 0 and found["lost"] == []
    assert len(found["cells"]) == 3
    for text, left, right in found["cells"][:2]:
        assert 0 <= left < right <= width, f"{text} is out of sight"
    bright = [sum(map(int, found[key][4:-1].split(","))) > 380 for key in ("page", "ink")]
    assert bright == ([True, False] if scheme == "light" else [False, True])
