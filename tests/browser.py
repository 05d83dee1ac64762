"""Drives headless Chromium through the pipe of its DevTools, which needs no library: pages, their console, requests, scripts, pictures.

with served(folder) as address, Browser(tmp_path) as browser, browser.open(f"{address}index.html") as tab:
    assert "pqassay" == tab.evaluate("document.title")
    assert 390 == tab.measured("document.documentElement.scrollWidth")
    assert ([], []) == (tab.complaints, tab.outside(address))

Nothing moves in a page: what is measured is what it comes to. All that is waited for has the end of `tests/processes.py`.
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
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest

import processes
from processes import PATIENCE, HungError

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
    # A page asks for twenty files: with a connection and a thread for each they cost more than reading them.
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is its base's
        """Say nothing."""

    def do_GET(self) -> None:
        """Serve a file; a browser that goes away in the midst of it is not a mistake."""
        with contextlib.suppress(ConnectionError):
            super().do_GET()


def served(folder: Path) -> contextlib.AbstractContextManager[str]:
    """Serve a folder on this machine; yields its address, with a slash at the end."""
    return serving(functools.partial(_Quiet, directory=str(folder)))


@contextlib.contextmanager
def serving(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer requests on this machine; yields the address, with a slash at the end."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


STILL = """(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`*, ::before, ::after, ::backdrop {
    transition-duration: 0s !important; transition-delay: 0s !important; scroll-behavior: auto !important;
    animation-duration: 0s !important; animation-delay: 0s !important; animation-iteration-count: 1 !important;
  }`);
  document.adoptedStyleSheets.push(sheet);
  for (const [of, ...names] of [[Element.prototype, "scroll", "scrollTo", "scrollBy", "scrollIntoView"], [window, "scroll", "scrollTo", "scrollBy"]])
    for (const name of names) {
      const moved = of[name];
      of[name] = function (...where) {
        return moved.apply(this, where.map((one) => (one?.behavior ? { ...one, behavior: "instant" } : one)));
      };
    }
})();"""
"""What each document begins with: transitions and animations are at their end at once, and so is what is scrolled.

It is a sheet that the policy of a page does not forbid, as it would forbid an element `style`.
"""

SETTLED = """(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const end = Date.now() + LIMIT;
  const looks = () => {
    const seen = [scrollX, scrollY];
    for (const element of document.querySelectorAll("*")) {
      const place = element.getBoundingClientRect(), style = getComputedStyle(element);
      seen.push(place.x, place.y, place.width, place.height, style.color, style.backgroundColor, style.opacity, style.visibility);
    }
    return seen.join();
  };
  while (document.readyState !== "complete") await frame();
  await document.fonts.ready;
  const shown = [...document.images].filter((image) => image.loading !== "lazy");
  await Promise.all(shown.map((image) => image.decode().catch(() => {})));
  for (let before = "", now = looks(); before !== now; ) {
    if (Date.now() > end) throw new Error("the page never looks twice the same");
    await frame();
    [before, now] = [now, looks()];
  }
})()"""
"""Is over once all is loaded that a page shows, and two frames in a row had the same places and colours."""


class Browser:
    """A headless browser; use it as a context manager, and one for many pages: it takes half a second to start."""

    def __init__(self, folder: Path) -> None:
        """Start it, with a profile in a folder."""
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
        command = [program(), *flags, MOUSE, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        ours, theirs = os.pipe(), os.pipe()

        def connect() -> None:
            # The numbers that the browser expects; the ends may have these numbers themselves.
            read, write = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._stack = contextlib.ExitStack()
        self._process = self._stack.enter_context(
            processes.started(
                command,
                stdin=processes.DEVNULL,
                stdout=processes.DEVNULL,
                stderr=processes.DEVNULL,
                close_fds=False,
                preexec_fn=connect,
            )
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
        below = processes.children(self._process.pid)
        os.close(self._to)
        os.close(self._from)
        self._selector.close()
        self._stack.close()
        # A child that was killed with its parent is waited for by the system, which may take a moment.
        processes.until(
            lambda: not any(map(processes.alive, below)), "all processes of the browser have ended"
        )

    def open(
        self, address: str, *, width: int = 1280, height: int = 900, dark: bool = False, begins: str = ""
    ) -> Tab:
        """Open a page as somebody who was never there, and wait until it is loaded; use it as a context manager, which closes it.

        What the page keeps in the browser is its own: otherwise a dark page would be light because the theme keeps the first choice.
        A script may be named with which it begins, and each page after it.
        """
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session, context)
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.call(f"{domain}.enable")
        tab.call("Page.setLifecycleEventsEnabled", enabled=True)
        for script in filter(None, (STILL, begins)):
            tab.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        # Workers are told about as well.
        tab.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        tab.resize(width, height)
        preferred = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in preferred.items()]
        tab.call("Emulation.setEmulatedMedia", features=features)
        tab.go(address)
        return tab

    def call(self, method: str, *, session: str | None = None, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result; events are kept meanwhile."""
        number = self._send(method, session, parameters)
        until = time.monotonic() + PATIENCE
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
                raise HungError(f"the browser did not answer after {PATIENCE:g} s: {what}")
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def resize(self, width: int, height: int) -> None:
        """Show it on a screen of a width in pixels; a narrow one is a phone's."""
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
        with self._leaving():
            told = self.call("Page.navigate", url=address)
            assert "errorText" not in told, f"{address}: {told['errorText']}"

    def follow(self, expression: str) -> None:
        """Begin an expression that leads to another page, and wait until that is loaded."""
        with self._leaving():
            self.call("Runtime.evaluate", expression=expression)

    @contextlib.contextmanager
    def _leaving(self) -> Iterator[None]:
        """Wait until the page is loaded that the block leads to: another one, for the old one's events may come late."""
        old = self.call("Page.getFrameTree")["frameTree"]["frame"]
        yield
        for event in self._browser.events(time.monotonic() + PATIENCE):
            self._note(event)
            told = event["params"]
            if (
                event["method"] == "Page.lifecycleEvent"
                and event.get("sessionId") == self._session
                and (told["name"], told["frameId"]) == ("load", old["id"])
                and told["loaderId"] != old["loaderId"]
            ):
                break
        self.settle()

    def settle(self) -> None:
        """Wait until the page has all that it shows, and looks the same twice."""
        self.evaluate(SETTLED.replace("LIMIT", f"{PATIENCE * 1000:.0f}"))

    def measured(self, expression: str) -> Any:
        """The value of an expression about places or colors, of a page that does not change any more."""
        self.settle()
        return self.evaluate(expression)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; of a promise, what it promises.

        Raises:
            AssertionError: It throws, or takes too long.
        """
        told = self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        self._listen()
        if "exceptionDetails" in told:
            thrown = told["exceptionDetails"]
            raise AssertionError(thrown.get("exception", {}).get("description", thrown["text"]))
        return told["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true.

        Raises:
            AssertionError: It never was.
        """
        self.evaluate(
            f"""new Promise((done, fail) => {{
              const end = Date.now() + {PATIENCE * 1000:.0f};
              const ask = () => {{
                if ({condition}) done();
                else if (Date.now() < end) setTimeout(ask, 50);
                else fail(new Error("not after {PATIENCE:g} s: " + {json.dumps(condition)}));
              }};
              ask();
            }})"""
        )

    def choose_files(self, selector: str, *paths: Path) -> None:
        """Choose files in an input, as a user does."""
        document = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def drop_files(self, selector: str, *paths: Path, leaves: bool = False) -> None:
        """Drop files or folders on an element, as a user does with a mouse; with ``leaves`` wait for the page that it leads to."""
        x, y = self.measured(
            f"""(() => {{ const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{ block: "center", behavior: "instant" }});
            const place = element.getBoundingClientRect();
            return [place.x + place.width / 2, place.y + place.height / 2]; }})()"""
        )
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        with self._leaving() if leaves else contextlib.nullcontext():
            for kind in ("dragEnter", "dragOver", "drop"):
                self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Save what the page shows as PNG; with ``whole``, what would have to be scrolled to, too."""
        self.settle()
        told = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(told["data"]))

    def outside(self, address: str) -> list[str]:
        """The requests that did not go to the site at an address."""
        self._listen()
        own = (address, "data:", "blob:", "about:")
        return [request for request in self.requests if not request.startswith(own)]

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol about this page."""
        return self._browser.call(method, session=self._session, **parameters)

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
