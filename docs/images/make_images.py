"""The pictures of the README and of the documentation: python docs/images/make_images.py.

Most show a report of the penguins in a headless Chromium, which must be installed.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import lessnaive
from lessnaive.datasets import load_penguins
from lessnaive.stream import Prequential

HERE = Path(__file__).parent
sys.path.append(str(HERE.parents[1] / "tests"))
from browser import start  # noqa: E402


def make_report(path: Path) -> None:
    X, y = load_penguins("pandas")
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], y.iloc[order]
    model = lessnaive.LessNaiveClassifier().fit(X[:200], y[:200])
    report = lessnaive.report(model, X[200:], y[200:], title="Penguins", data_name="penguins.csv")
    report.save(path)


def shoot(browser, path: Path, name: str, width: int, height: int, part: str, theme: str) -> None:
    """Save what is seen below the heading of a part of the page."""
    browser.open(path, width=width, height=height, theme=theme)
    browser.run("document.querySelector('header').style.position = 'static'")
    browser.draw_all()
    browser.run("document.querySelectorAll('.numbers').forEach((one) => { one.open = false; })")
    box = "document.querySelector(arguments[0]).getBoundingClientRect()"
    top = browser.run(f"return {box}.top", part)
    clip = {"x": 0, "y": max(0, top + browser.run("return scrollY")), "width": width}
    clip |= {"height": height, "scale": 1}
    options = {"captureBeyondViewport": True, "clip": clip}
    data = browser.command("Page.captureScreenshot", options)["data"]
    image = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    image.quantize(128, dither=Image.Dither.NONE).save(HERE / name, optimize=True)


def draw() -> None:
    """Save displays."""
    import matplotlib

    matplotlib.use("Agg")
    from lessnaive.plot import (
        ExplanationDisplay,
        NomogramDisplay,
        PrequentialDisplay,
        TermDisplay,
    )

    X, y = load_penguins("pandas")
    model = lessnaive.LessNaiveClassifier().fit(X, y)
    naive = lessnaive.NaiveBayes().fit(X, y)
    displays = {
        "term.png": TermDisplay.from_estimator(model, "bill_length_mm"),
        "explanation.png": ExplanationDisplay.from_estimator(model, X, row=3),
        "nomogram.png": NomogramDisplay.from_estimator(naive, class_="Gentoo", against="Adelie"),
        "stream.png": PrequentialDisplay.from_curves(streams()),
    }
    for name, display in displays.items():
        data = io.BytesIO()
        display.figure_.savefig(data, dpi=100)
        image = Image.open(data).convert("RGB")
        image.quantize(64, dither=Image.Dither.NONE).save(HERE / name, optimize=True)


def streams() -> dict[str, Prequential]:
    """The stream of the tutorial, in which the world changes."""
    out = {}
    for name, forgetting in (("all rows", 1.0), ("old rows fade", 0.999)):
        rng = np.random.default_rng(0)
        model = lessnaive.NaiveBayes(numeric="gaussian", forgetting=forgetting)
        out[name] = Prequential(window=500)
        for k in range(60):
            y = rng.integers(0, 2, 100)
            X = np.column_stack([rng.normal(y + 2.0 * (k >= 30)), rng.normal(size=100)])
            out[name].test_then_train(model, X, y)
    return out


def main() -> None:
    draw()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        make_report(path)
        for browser in start():
            shoot(browser, path, "report_summary.png", 1200, 880, "body", "light")
            shoot(browser, path, "report_columns.png", 1200, 800, "#terms", "light")
            shoot(browser, path, "report_what_if.png", 1200, 620, "#what-if", "light")
            shoot(browser, path, "report_dark.png", 1200, 800, "#terms", "dark")
            shoot(browser, path, "report_phone.png", 360, 760, "#what-if", "light")
            shoot(browser, path, "report_phone_dark.png", 360, 760, "#performance", "dark")


if __name__ == "__main__":
    main()
