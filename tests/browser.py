"""Drives headless Chromium through the pipe of its DevTools, which needs no library: pages, their console, requests, scripts, pictures.

with served(folder) as address, Browser(tmp_path) as browser:
    page = browser.open(f"{address}index.html")
    assert page.evaluate("document.title") == "pqassay"
    assert page.complaints == [] and page.outside(address) == []
"""

from __future__ import annotations

import base64
import contextlib
import functools
import http.server
import json
import os
import selectors
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

MOUSE = (
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"
)
"""Says that there is a mouse, which a headless browser has not: the theme asks before it lets keys scroll a listing."""


def installed() -> str | None:
    """The path of the browser, if there is one."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def program() -> str:
    """The path of the browser; the test is skipped where there is none, and fails with ``CI=true``."""
    found = installed()
    if found is None:
        do_without(f"there is no browser: none of {', '.join(BROWSERS)}; tools/ci-setup installs one")
    return found


def do_without(reason: str) -> NoReturn:
    """Skip a test since this machine lacks something; with ``CI=true``, where nothing may be missing, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is its base's
        """Say nothing."""

    def do_GET(self) -> None:
        """Serve a file; a browser that goes away in the midst of it is nobody's mistake."""
        with contextlib.suppress(ConnectionError):
            super().do_GET()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; yields its address, with a slash at the end."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


class Browser:
    """A headless browser; use it as a context manager, and one for many pages: it takes half a second to start."""

    def __init__(self, folder: Path) -> None:
        """Start it, with a profile in a folder."""
        ours, theirs = os.pipe(), os.pipe()

        def connect() -> None:
            # The numbers that the browser expects; the ends may have these numbers themselves.
            read, write = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
        command = [program(), *flags, MOUSE, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=connect,  # noqa: PLW1509 - it calls the system only, and takes no lock
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._to, self._from = ours[1], theirs[0]
        self._number = 0
        self._buffer = b""
        self._events: deque[dict[str, Any]] = deque()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._from, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            os.close(self._to)
        os.close(self._from)
        self._selector.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def open(self, address: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> Tab:
        """Open a page as somebody who was never there, and wait until it is loaded.

        What the page keeps in the browser is its own: otherwise a dark page would be light because the theme keeps the first choice.
        """
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session, context)
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.call(f"{domain}.enable")
        # Workers are told about as well.
        tab.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        tab.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.call("Emulation.setEmulatedMedia", features=[scheme])
        tab.go(address)
        return tab

    def call(self, method: str, *, session: str | None = None, seconds: float = 60, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result; events are kept meanwhile."""
        number = self._send(method, session, parameters)
        until = time.monotonic() + seconds
        while True:
            answer = self._next(until, method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self._events.append(answer)

    def _send(self, method: str, session: str | None, parameters: Mapping[str, Any]) -> int:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        return self._number

    def events(self, until: float | None = None) -> Iterator[dict[str, Any]]:
        """Yield the events that came; with a time, those that come until then as well."""
        while self._events:
            yield self._events.popleft()
        while until is not None:
            if "method" in (found := self._next(until, "an event")):
                yield found

    def _next(self, until: float, what: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not self._selector.select(max(until - time.monotonic(), 0)):
                raise AssertionError(f"the browser did not answer in time: {what}")
            piece = os.read(self._from, 1 << 20)
            if not piece:
                raise AssertionError(f"the browser ended: {what}")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if found.get("method") == "Target.attachedToTarget" and found["params"]["waitingForDebugger"]:
            # A worker: it waits until somebody listens, so that none of its requests is missed.
            session = found["params"]["sessionId"]
            for method in ("Runtime.enable", "Network.enable", "Runtime.runIfWaitingForDebugger"):
                self._send(method, session, {})
        return found


class Tab:
    """A page that is open.

    Attributes:
        complaints: What its console said as an error or a warning, and exceptions.
        requests: The addresses that it asked for.
    """

    def __init__(self, browser: Browser, session: str, context: str) -> None:
        self._browser, self._session, self._context = browser, session, context
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def resize(self, width: int, height: int) -> None:
        """Show it on a screen of so many pixels; a narrow one is a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def close(self) -> None:
        """Close it, and forget what it kept."""
        self._browser.call("Target.disposeBrowserContext", browserContextId=self._context)

    def go(self, address: str) -> None:
        """Go to another page and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        self._loaded()

    def follow(self, expression: str) -> None:
        """Begin an expression that leads to another page, and wait until that is loaded."""
        self.call("Runtime.evaluate", expression=expression)
        self._loaded()

    def _loaded(self) -> None:
        for event in self._browser.events(time.monotonic() + 60):
            self._note(event)
            if event["method"] == "Page.loadEventFired" and event.get("sessionId") == self._session:
                return

    def evaluate(self, expression: str, *, seconds: float = 60) -> Any:
        """The value of an expression; of a promise, what it promises.

        Raises:
            AssertionError: It throws, or takes too long.
        """
        told = self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            seconds=seconds,
        )
        self._listen()
        if "exceptionDetails" in told:
            thrown = told["exceptionDetails"]
            raise AssertionError(thrown.get("exception", {}).get("description", thrown["text"]))
        return told["result"].get("value")

    def wait(self, condition: str, *, seconds: float = 60) -> None:
        """Wait until an expression is true."""
        self.evaluate(
            f"new Promise((done) => {{ const ask = () => ({condition}) ? done() : setTimeout(ask, 50); ask(); }})",
            seconds=seconds,
        )

    def choose_files(self, selector: str, *paths: Path) -> None:
        """Choose files in an input, as a user does."""
        document = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def drop_files(self, selector: str, *paths: Path, leaves: bool = False) -> None:
        """Drop files or folders on an element, as a user does with a mouse; with ``leaves`` wait for the page that it leads to."""
        x, y = self.evaluate(
            f"""(() => {{ const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{ block: "center", behavior: "instant" }});
            const place = element.getBoundingClientRect();
            return [place.x + place.width / 2, place.y + place.height / 2]; }})()"""
        )
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)
        if leaves:
            self._loaded()

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Save what the page shows as PNG; with ``whole``, what would have to be scrolled to, too."""
        told = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(told["data"]))

    def outside(self, address: str) -> list[str]:
        """The requests that did not go to the site at an address."""
        self._listen()
        own = (address, "data:", "blob:", "about:")
        return [request for request in self.requests if not request.startswith(own)]

    def call(self, method: str, *, seconds: float = 60, **parameters: Any) -> Any:
        """Call a method of the protocol about this page."""
        return self._browser.call(method, session=self._session, seconds=seconds, **parameters)

    def _listen(self) -> None:
        for event in self._browser.events():
            self._note(event)

    def _note(self, event: dict[str, Any]) -> None:
        kind, told = event["method"], event["params"]
        if kind == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif kind == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"].get("exception", {}).get("description")))
        elif kind == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.complaints.append(
                " ".join(str(one.get("value", one.get("description"))) for one in told["args"])
            )
        elif kind == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
