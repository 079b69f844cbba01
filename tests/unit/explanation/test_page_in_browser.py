"""The page as a browser shows it: headless Chromium, wide and narrow, by day and by night.

`test_page.py` holds what can be seen in the text alone, so that a machine without Chromium still
checks that the page is well formed and loads nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any, Final

import pytest
import torch

import neuron_compile
from explained_models import Factorizer
from neuron_compile.explanation.page import as_page

BROWSER: Final = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium (Debian's package chromium)"),
    pytest.mark.multiprocess,
]

# Leaves what it measured in the document's title.
MEASURE: Final = """<script>
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const luminance = color => {
  const [r, g, b] = color.map(v => v / 255).map(
    v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const background = element => {
  for (let e = element; e; e = e.parentElement) {
    const color = numbers(getComputedStyle(e).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color.slice(0, 3);
  }
  return [255, 255, 255];
};
const contrasts = [], hidden = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.data.trim(), element = walker.currentNode.parentElement;
  if (!text || element.closest('script') || element.closest('details:not([open]) pre')) continue;
  const box = element.getBoundingClientRect();
  if (box.width < 1 || box.height < 1) hidden.push(text);
  const levels = [numbers(getComputedStyle(element).color).slice(0, 3), background(element)]
    .map(luminance).sort((a, b) => b - a);
  contrasts.push([(levels[0] + 0.05) / (levels[1] + 0.05), text]);
}
contrasts.sort((a, b) => a[0] - b[0]);
document.title = JSON.stringify({
  width: innerWidth, content: document.documentElement.scrollWidth,
  resources: performance.getEntriesByType('resource').length,
  contrast: contrasts[0], hidden,
  paper: numbers(getComputedStyle(document.body).backgroundColor)[0],
  heading: document.querySelector('h1').innerText,
  obstacles: document.querySelectorAll('article.obstacle').length,
  rows: document.querySelectorAll('tbody tr').length,
});
</script></body>"""


@pytest.fixture(scope="module")
def page() -> str:
    """What there is to say about a model with obstacles, for a device."""
    found = neuron_compile.explain(Factorizer(), torch.randn(3), for_target="trn2")
    text = as_page(found)
    assert text.count("</body>") == 1
    return text


def measured(page: str, folder: Path, width: int, *, is_night: bool) -> dict[str, Any]:
    file = folder / "page.html"
    file.write_text(page.replace("</body>", MEASURE), encoding="utf-8")
    assert BROWSER is not None
    scheme = f"--blink-settings=preferredColorScheme={0 if is_night else 1}"
    result = subprocess.run(
        [
            *(BROWSER, *FLAGS, scheme, f"--user-data-dir={folder / 'profile'}"),
            *(f"--window-size={width},900", "--dump-dom", file.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    title = re.search(r"<title>(.*?)</title>", result.stdout, re.DOTALL)
    assert title, result.stderr
    found: dict[str, Any] = json.loads(unescape(title[1]))
    return found


@pytest.mark.parametrize("width", [1280, 500])
@pytest.mark.parametrize("is_night", [False, True], ids=["day", "night"])
def test_page_can_be_read_and_loads_nothing(
    page: str, tmp_path: Path, width: int, is_night: bool
) -> None:
    found = measured(page, tmp_path, width, is_night=is_night)
    assert found["content"] <= found["width"], "the page is wider than the window"
    assert found["resources"] == 0
    assert found["hidden"] == []
    assert found["contrast"][0] >= 4.5, "WCAG 2.2 AA"
    assert (found["paper"] < 64) == is_night
    assert found["heading"].startswith("Factorizer cannot be compiled for trn2")
    assert found["obstacles"] >= 3
    assert found["rows"] >= 5
