"""A headless Chromium, driven by its DevTools protocol over pipes: pages are opened, typed into, looked at."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


class NoBrowser(Exception):
    """No chromium runs here."""


class Browser:
    """One page. What its scripts log or throw is in `problems`."""

    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise NoBrowser("no chromium")
        self.folder = tempfile.TemporaryDirectory(prefix="browser.", ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.answers, to_write = os.pipe()

        def give_pipes():  # the browser reads commands at descriptor 3 and writes answers at 4
            read, write = os.dup(to_read), os.dup(to_write)
            while read in (3, 4):
                read = os.dup(read)
            while write in (3, 4):
                write = os.dup(write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe",
             "--no-first-run", "--hide-scrollbars", "about:blank"],
            preexec_fn=give_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.problems = []
        try:
            target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
            self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        except (EOFError, OSError) as error:
            self.close()
            raise NoBrowser(str(error)) from error
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.size(1200, 900)

    def call(self, method, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(parameters["exceptionDetails"])[:400])
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"] + " " + parameters["entry"].get("url", ""))
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.problems.append(json.dumps(parameters["args"])[:400])

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, expression):
        """Returns the value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, seconds=60):
        """Waits until the expression is true; returns its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := self.value(expression):
                    return found
            except RuntimeError:
                pass  # between two pages
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}; {self.value('document.body.innerText')[:2000]}; {self.problems}")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key):
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39}
        event = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if key == "Enter":
            event["text"] = "\r"
        elif key not in codes:
            event["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=event["windowsVirtualKeyCode"])

    def drag(self, begin, end, shift=False):
        modifiers = 8 if shift else 0
        mouse = lambda kind, place: self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left",
                                              buttons=1, clickCount=1, modifiers=modifiers)
        mouse("mousePressed", begin)
        mouse("mouseMoved", [(a + b) / 2 for a, b in zip(begin, end)])
        mouse("mouseMoved", end)
        mouse("mouseReleased", end)

    def picture(self, whole=False):
        """Returns the page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole, **(
            {"clip": {**self.call("Page.getLayoutMetrics")["cssContentSize"], "scale": 1}} if whole else {}))["data"])

    def close(self):
        for descriptor in (self.to, self.answers):
            os.close(descriptor)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
