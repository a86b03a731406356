"""Drives headless Chromium over the pipe of its DevTools protocol. Needs only the standard library."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time


def find_chromium():
    """Returns the path of Chromium or Chrome, or None if neither is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="torchstone_chromium_")
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()

        def pipes():  # Chromium reads the protocol from descriptor 3 and writes it to 4
            os.setsid()
            low, high = os.dup(read_commands), os.dup(write_answers)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.number, self.buffer, self.events, self.served = 0, b"", [], None
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, method, **parameters):
        return self._send(method, parameters, self.session)

    def _write_all(self, data):
        while data:
            data = data[os.write(self.commands, data):]

    def _write(self, method, parameters, session):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._write_all(json.dumps(message).encode() + b"\0")
        return self.number

    def _send(self, method, parameters, session=None):
        number = self._write(method, parameters, session)
        while True:
            answer = self._next(60)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self, patience):
        end = time.monotonic() + patience
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            chunk = os.read(self.answers, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Fetch.requestPaused":
            text, headers = self.served
            self._write("Fetch.fulfillRequest",
                        {"requestId": message["params"]["requestId"], "responseCode": 200, "body": text,
                         "responseHeaders": [{"name": name, "value": value} for name, value in headers.items()]},
                        self.session)
        elif "method" in message:
            self.events.append(message)
        return message

    def open(self, address, scripting=True, width=1280, height=900, dark=False):
        """Loads a page and waits until it is loaded. `events` then has the events of this page."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripting)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.call("Page.navigate", url="about:blank")
        self._wait_for_load()
        self.events.clear()
        self.call("Page.navigate", url=address)
        self._wait_for_load()
        self.evaluate("0")  # its reply comes after all queued events

    def open_served(self, text, headers, **options):
        """Opens the page as if a server had sent it with these headers."""
        self.served = base64.b64encode(text.encode()).decode(), {"Content-Type": "text/html", **headers}
        self.call("Fetch.enable", patterns=[{"urlPattern": "http://page.test/*"}])
        self.open("http://page.test/report.html", **options)
        self.call("Fetch.disable")

    def _wait_for_load(self):
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._next(60)
        self.events = [event for event in self.events if event["method"] != "Page.loadEventFired"]

    def evaluate(self, expression):
        """Returns the value of an expression. Works with scripting disabled too, because the debugger may still
        evaluate."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key, code=None, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13}.get(key, 0),
                      **({"text": text} if text and kind == "keyDown" else {}))

    def complaints(self):
        """Returns the errors of the console, of scripts and of the content security policy."""
        found = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"]["text"])
            if event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
            if event["method"] == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, file, whole=True, tallest=8000):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], tallest), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                         **({"clip": clip} if whole else {}))["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF")["data"])
