"""Starts octavo serve on a free port, asks it, and ends it. For tests and measurements."""

import http.client
import json
import signal
import subprocess
import urllib.parse


class Server:
    """A running server. As a context it is ended with SIGTERM, and must then exit as after every SIGTERM, with 143."""

    def __init__(self, octavo, *arguments, **options):
        self.process = subprocess.Popen([octavo, "serve", *map(str, arguments), "--port", "0"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        line = self.process.stdout.readline()
        if not line.startswith("http://"):
            self.process.wait()
            raise RuntimeError(f"no address but {line!r}: {self.process.stderr.read()}")
        self.address = line.strip().rstrip("/")
        self.host, port = self.address[len("http://"):].rsplit(":", 1)
        self.port = int(port)

    def request(self, target, body=None, method=None, headers=None, connection=None):
        """Returns status, headers and bytes of the answer."""
        own = connection or http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=60)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        own.request(method or ("GET" if body is None else "POST"), target, body, headers)
        answer = own.getresponse()
        data = answer.read()
        if connection is None:
            own.close()
        return answer.status, answer.headers, data

    def ask(self, path, body=None, status=200, **values):
        """Asks the API and returns the object."""
        target = f"/api/v1/{path}"
        if values:
            target += "?" + urllib.parse.urlencode(values, doseq=True)
        found, _, data = self.request(target, body)
        assert found == status, (target, found, data[:300])
        return json.loads(data)

    def end(self, number=signal.SIGTERM):
        """Sends a signal; returns the exit code and what was logged."""
        self.process.send_signal(number)
        _, log = self.process.communicate(timeout=60)
        return self.process.returncode, log

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            code, log = self.end()
            assert kind is not None or code == 143, (code, log)
