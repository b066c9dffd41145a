"""Builds the report of cdp_hw1's reference, `hw1.pdf`, from `hw1.html.j2` and `measured.json` beside it.

Every figure comes from `measured.json`: what `scripts/measure_cdp_hw1.py` measured, with the kernels of two
runs under names that say how many cells a thread computes. Every ratio is computed here. Blocks of class
`screen` become pictures, as a screenshot of a terminal is one. It needs playwright, of the extra `test`, and
the system's Chromium, which writes the date into a PDF: the bytes differ from build to build, and a test
compares the words.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).resolve().parent.parent / "assignments" / "cdp_hw1" / "reference"
CORES = (1, 2, 4, 8)
ROWS, LENGTH = 784, 128
LANES = 64
"""Multiply-adds of float64 that a multiprocessor of an H200 does in a cycle."""
MILLISECONDS = {"HtoD": "to", "DtoH": "back", "_kernel": "kernel"}


def html() -> str:
    """Return the report with its figures."""
    measured = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    maxima = [_maxima(cores, measured) for cores in CORES]
    cells = ROWS * (ROWS + 1) // 2
    clock_mhz = int(re.findall(r"(\d+) MHz", measured["machine"]["gpu"])[0])
    environment = Environment(loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, autoescape=True)
    return environment.get_template("hw1.html.j2").render(
        machine=measured["machine"],
        maxima=maxima,
        products=[_products(cores, measured) for cores in CORES],
        in_max=_milliseconds(measured["kernels"]["max_gpu"]),
        sixteen=_milliseconds(measured["kernels"]["matmul_transpose_gpu, 16 cells a thread"]),
        twenty_four=_milliseconds(measured["kernels"]["matmul_transpose_gpu, 24 cells a thread"]),
        **{f"{name}_least": min(run[f"max_{name}"] for run in maxima) for name in ("cpu", "gpu")},
        **{f"{name}_most": max(run[f"max_{name}"] for run in maxima) for name in ("cpu", "gpu")},
        cells=cells,
        multiply_adds=cells * LENGTH,
        clock_ghz=clock_mhz / 1e3,
        least_ms=cells * LENGTH / (LANES * clock_mhz * 1e3),
    )


def write(target: Path) -> None:
    """Print the report as a PDF, its screens as pictures."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(device_scale_factor=2, viewport={"width": 1200, "height": 1600})
        page.set_content(html())
        for screen in page.locator(".screen").all():
            picture = base64.b64encode(screen.screenshot(omit_background=True)).decode()
            screen.evaluate("(block, data) => block.dataset.picture = data", picture)
        page.evaluate(
            """() => Promise.all([...document.querySelectorAll(".screen")].map(block => {
                const image = new Image();
                image.src = "data:image/png;base64," + block.dataset.picture;
                block.replaceWith(image);
                return image.decode();
            }))"""
        )
        page.pdf(path=target, prefer_css_page_size=True, print_background=True)
        browser.close()


def _maxima(cores: int, measured: dict[str, Any]) -> dict[str, Any]:
    printed = measured[f"max_functions, {cores} cores"]
    return {**_run(cores, printed), **_seconds(printed)}


def _products(cores: int, measured: dict[str, Any]) -> dict[str, Any]:
    printed = measured[f"matmul_functions, {cores} cores"]
    small, _, large = printed.partition("With 784 rows")
    return {**_run(cores, printed), "small": _seconds(small), "large": _seconds(large)}


def _run(cores: int, printed: str) -> dict[str, Any]:
    return {"cores": cores, "on": "1 core" if cores == 1 else f"{cores} cores", "printed": printed.strip()}


def _seconds(printed: str) -> dict[str, float]:
    return {name: float(taken) for name, taken in re.findall(r"(\w+): +([\d.]+) seconds", printed)}


def _milliseconds(call: dict[str, Any]) -> dict[str, float]:
    """Return the medians of a call's copies and kernel, and the least of the kernel."""
    medians = {
        name: taken["median_ms"]
        for what, taken in call.items()
        for part, name in MILLISECONDS.items()
        if part in what
    }
    least = next(taken["least_ms"] for what, taken in call.items() if what.endswith("_kernel"))
    return {**medians, "least": least}


if __name__ == "__main__":
    write(FOLDER / "hw1.pdf")
