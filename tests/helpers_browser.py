"""A Chromium without a window, spoken to in its DevTools protocol over a pair of pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE_S = 120.0


def chromium():
    """The path of a Chromium or Chrome on this machine, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser; `errors` collects what its scripts and its policy complain about."""

    def __init__(self, width=1280, height=900, dark=False):
        self.errors, self.requests, self._numbers, self._buffer = [], [], 0, b""
        self._profile = tempfile.mkdtemp(prefix="dynid-browser-")
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        command = f'exec "$0" "$@" 3<&{to_child} 4>&{from_child}'
        arguments = [chromium(), *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, *arguments],
            pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._session = None
        targets = self._pages()
        self._session = self.send("Target.attachToTarget", targetId=targets[0], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)
        self.resize(width, height)
        self.media(dark=dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._session = None
            self.send("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    # -- the protocol ---------------------------------------------------------------------------

    def send(self, method, **params):
        """The result of a command."""
        self._numbers += 1
        message = {"id": self._numbers, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._numbers:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._hear(answer)

    def _next(self):
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(deadline - time.monotonic(), 0.0))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise EOFError("the browser has gone")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _hear(self, event):
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:2000])
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(json.dumps(params["args"])[:2000])
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def _pages(self):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            infos = self.send("Target.getTargets")["targetInfos"]
            found = [info["targetId"] for info in infos if info["type"] == "page"]
            if found:
                return found
            time.sleep(0.05)
        raise TimeoutError("the browser has no page")

    # -- what a reader does -----------------------------------------------------------------------

    def open(self, path, until="document.documentElement.dataset.figures === 'drawn'"):
        """Load a file and wait until a condition holds; the seconds that took."""
        started = time.monotonic()
        self.send("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait(until)
        return time.monotonic() - started

    def wait(self, condition):
        """Until a condition of the page holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.run(f"document.readyState === 'complete' && ({condition})"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never came true: {condition}; {self.errors}")
            time.sleep(0.02)

    def run(self, expression):
        """The value of a JavaScript expression, promises awaited."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def press(self, key, text=None):
        """A key on the keyboard."""
        more = {"text": text} if text else {}
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        self.send("Input.dispatchKeyEvent", type="keyDown", **common, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def resize(self, width, height):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, dark=False, printed=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media="print" if printed else "", features=[scheme])

    def picture(self, path, whole=False):
        """A PNG of the window, or of the whole page."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def paper(self):
        """The page as PDF."""
        return base64.b64decode(
            self.send("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.7)["data"]
        )
