"""A real browser without a window, or a clear reason why there is none."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from other_programs import environment

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_DRIVERS = ("chromedriver", "chromium.chromedriver")
# Seconds in which a page is there, on a busy machine.
_PATIENCE = 20
# What a page that is safe never does: it is noted here before any of its own programs run.
_WATCH = """
window.happened = [];
for (const name of ["alert", "confirm", "prompt", "open"]) {
  window[name] = (...given) => { window.happened.push([name, ...given].join(" ")); return null; };
}
addEventListener("error", (event) => window.happened.push(`error ${event.message}`));
addEventListener("unhandledrejection", (event) => window.happened.push(`rejected ${event.reason}`));
addEventListener("securitypolicyviolation", (event) =>
  window.happened.push(`blocked ${event.violatedDirective} ${event.blockedURI}`));
"""


class Browser:
    """Pages in a headless Chromium."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1200, height: int = 900, theme: str = "light"):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.command("Emulation.setDeviceMetricsOverride", size)
        scheme = [{"name": "prefers-color-scheme", "value": theme}]
        self.command("Emulation.setEmulatedMedia", {"features": scheme})
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        until = time.monotonic() + _PATIENCE
        while self.run("return document.documentElement.dataset.ready ?? null") != "true":
            assert time.monotonic() < until, self.messages()
            time.sleep(0.01)

    def command(self, name: str, options: dict[str, Any]) -> Any:
        return self.driver.execute_cdp_cmd(name, options)

    def run(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    def draw_all(self) -> None:
        """Open all that can be opened, and draw all pictures, as printing does."""
        self.run(
            """document.getElementById("open-terms").click();
            document.querySelectorAll("details").forEach((one) => { one.open = true; });
            dispatchEvent(new Event("beforeprint"));"""
        )
        # Details tell that they were opened a little later.
        self.driver.execute_async_script(
            "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => done()), 50);"
        )

    def messages(self) -> list[str]:
        """What the console says, and what went wrong on the page."""
        logged = [entry["message"] for entry in self.driver.get_log("browser")]
        return logged + self.run("return window.happened")

    def requests(self) -> list[str]:
        """What the page has asked for."""
        import json

        events = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]


def start() -> Iterator[Browser]:
    """Yield a browser; skip the tests if there is none."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver_program = next(filter(None, map(shutil.which, _DRIVERS)), None)
    if program is None or driver_program is None:
        pytest.skip("no browser: install chromium and its driver (chromium-driver on Debian)")
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = program
    options.add_argument("--headless=new")
    options.add_argument("--disable-gpu")
    options.add_argument("--disable-dev-shm-usage")
    options.add_argument("--hide-scrollbars")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which Chromium does not have as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = selenium.Chrome(service=Service(driver_program, env=environment()), options=options)
    try:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
        yield Browser(driver)
    finally:
        driver.quit()
