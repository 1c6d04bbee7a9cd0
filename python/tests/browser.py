"""Headless Chromium, driven through a pipe: pages of files are opened, typed into and looked at.

Nothing but the standard library: Chromium reads commands of its DevTools protocol from file
descriptor 3 and writes what happens to 4, as JSON with a NUL behind each.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60  # seconds, for a page or an answer
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowDown": (40, "")}
KEYS |= {"ArrowUp": (38, ""), "ArrowLeft": (37, ""), "ArrowRight": (39, "")}
KEYS |= {"Home": (36, ""), "End": (35, ""), " ": (32, " ")}


def program() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One page of one Chromium."""

    def __init__(self, to: int, of: int) -> None:
        self.to, self.of = to, of
        self.numbers = itertools.count(1)
        self.rest = b""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    session: str | None = None

    def read(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            more = os.read(self.of, 1 << 20)
            if not more:
                raise EOFError("Chromium has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(message))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self.numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while (answer := self.read()).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    def wait(self, method: str, **params: Any) -> None:
        """For an event that says this."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                told = event.get("params", {})
                if event.get("method") == method and params.items() <= told.items():
                    return
            seen = len(self.events)
            self.events.append(self.read())

    def open(self, path: pathlib.Path, address: str = "") -> None:
        """A file; `address` is what follows the `#`."""
        for url in ("about:blank", path.as_uri() + (f"#{address}" if address else "")):
            self.events.clear()
            loader = self.call("Page.navigate", url=url)["loaderId"]
            self.wait("Page.lifecycleEvent", loaderId=loader, name="load")

    def value(self, expression: str) -> Any:
        """What JavaScript gives, as JSON."""
        done = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def until(self, expression: str) -> Any:
        """The first value that is true of one that is asked for again and again."""
        end = time.monotonic() + PATIENCE
        while not (value := self.value(expression)):
            assert time.monotonic() < end, f"never came true: {expression}"
            time.sleep(0.01)
        return value

    def press(self, *keys: str) -> None:
        for key in keys:
            code, text = KEYS.get(key, (ord(key.upper()[0]), key))
            told = {"key": key, "windowsVirtualKeyCode": code, "text": text}
            self.call("Input.dispatchKeyEvent", type="keyDown", **told)
            self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def window(self, width: int, height: int, phone: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    def media(self, kind: str = "", **features: str) -> None:
        """media("print"), media(prefers_color_scheme="dark")"""
        asked = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.call("Emulation.setEmulatedMedia", media=kind, features=asked)

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def requests(self) -> list[str]:
        """The addresses that were asked for since the page was opened."""
        found = [e["params"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in found]

    def faults(self) -> list[Any]:
        """What the page has thrown and complained of."""
        names = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [event["params"] for event in self.events if event.get("method") in names]


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    name = program()
    assert name is not None
    to_read, to = os.pipe()
    of, of_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        script = f'exec 3<&{to_read} 4>&{of_write}; exec "$@"'
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        arguments += ["--remote-debugging-pipe", "--no-first-run", "--disable-extensions"]
        arguments += [f"--user-data-dir={home}", "--force-color-profile=srgb", "--hide-scrollbars"]
        process = subprocess.Popen(
            ["bash", "-c", script, "chromium", name, *arguments],
            pass_fds=(to_read, of_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": home, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
        )
        os.close(to_read)
        os.close(of_write)
        try:
            page = Browser(to, of)
            yield page
            page.session = None
            page.call("Browser.close")
        finally:
            os.close(to)
            os.close(of)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
