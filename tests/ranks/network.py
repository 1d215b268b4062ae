"""Several machines on one: network namespaces, each with a link to a common switch, a speed, an sshd and a small disk.

Needs root. Names have the number of this process, so that several tests can run at the same time. All namespaces, links
and processes in them disappear with close(), also after a failure; those of a test that was killed with the next one.
Nothing of this machine's own network is touched.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

TOOLS = ["ip", "tc", "mount", "nsenter", "setpriv", "ssh", "ssh-keygen", "sshd", "unshare"]
PORT = 2222


class NotPossible(Exception):
    """This machine does not permit namespaces, or lacks a tool."""


def call(*command):
    result = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        raise OSError(f"{' '.join(map(str, command))}: {result.stderr.strip() or result.returncode}")
    return result.stdout


class Network:
    """Hosts 10.77.0.1, 10.77.0.2, ... whose host names are node1, node2, ... At `disk` each has a folder in memory that
    the others do not see; all other folders are common."""

    def __init__(self, hosts, folder, rate="1gbit", megabytes=256):
        missing = [tool for tool in TOOLS if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
        if os.geteuid() != 0 or missing:
            raise NotPossible("not root" if not missing else f"not installed: {' '.join(missing)}")
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.disk = self.folder / "disk"
        self.disk.mkdir(exist_ok=True)
        self.megabytes = megabytes
        self.prefix = f"octavo{os.getpid()}"
        self.switch = f"{self.prefix}s"
        self.hosts = [f"10.77.0.{i + 1}" for i in range(hosts)]
        self.servers = []
        self.closing = contextlib.ExitStack()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self._remove_stale()
        try:
            self._make(rate)
        except OSError as error:
            self.close()
            raise NotPossible(str(error)) from error
        except BaseException:
            self.close()
            raise

    def namespace(self, host):
        return f"{self.prefix}n{host}"

    def inside(self, host, command):
        """The command, to be run on a host."""
        return ["nsenter", f"--target={self.servers[host].pid}", "--net", "--uts", "--mount", *map(str, command)]

    def path(self, host, path):
        """A path of a host's disk, as this process sees it."""
        return pathlib.Path(f"/proc/{self.servers[host].pid}/root{path}")

    def _add(self, name):
        call("ip", "netns", "add", name)
        self.closing.callback(self._delete, name)
        call("ip", "-n", name, "link", "set", "lo", "up")

    def _remove_stale(self):
        """What tests left that were killed."""
        for line in call("ip", "netns", "list").splitlines():
            name = line.split()[0]
            owner = re.fullmatch(r"octavo(\d+)(s|n\d+)", name)
            if owner and not pathlib.Path(f"/proc/{owner[1]}").exists():
                with contextlib.suppress(OSError):  # another test may do the same
                    self._delete(name)

    def _make(self, rate):
        self._add(self.switch)
        call("ip", "-n", self.switch, "link", "add", "bridge", "type", "bridge")
        call("ip", "-n", self.switch, "link", "set", "bridge", "up")
        self._make_keys()
        for host, address in enumerate(self.hosts):
            name, port = self.namespace(host), f"port{host}"
            self._add(name)
            call("ip", "-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            call("ip", "-n", self.switch, "link", "set", port, "master", "bridge", "up")
            call("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            call("ip", "-n", name, "link", "set", "eth0", "up")
            for where, link in ((self.switch, port), (name, "eth0")):  # in each direction
                call("tc", "-n", where, "qdisc", "add", "dev", link, "root", "tbf", "rate", rate, "burst", "256kb",
                     "latency", "50ms")
            self._start_server(host)
        for host in range(len(self.hosts)):
            self._wait_for_server(host)

    def _make_keys(self):
        for name in ("host_key", "user_key"):
            (self.folder / name).unlink(missing_ok=True)
            call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name)
        shutil.copy(self.folder / "user_key.pub", self.folder / "authorized_keys")
        # Forwarding of the environment: Open MPI and MPICH pass their variables themselves. Another HOME: what the user's
        # own shell runs at a login, and may leave locked when it is killed, has no part in a test.
        (self.folder / "sshd_config").write_text(
            f"Port {PORT}\nHostKey {self.folder}/host_key\nAuthorizedKeysFile {self.folder}/authorized_keys\n"
            "PermitRootLogin prohibit-password\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\n"
            f"MaxStartups 100\nMaxSessions 100\nSetEnv HOME={self.folder}\n")
        (self.folder / "ssh_config").write_text(
            f"Host *\n  Port {PORT}\n  User root\n  IdentityFile {self.folder}/user_key\n  IdentitiesOnly yes\n"
            "  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  BatchMode yes\n")
        self.ssh = self.folder / "ssh"
        self.ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F "{self.folder}/ssh_config" "$@"\n')
        self.ssh.chmod(0o755)

    def _start_server(self, host):
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)  # sshd insists on it
        script = (f'hostname node{host + 1} && mount --make-rprivate / && '
                  f'mount -t tmpfs -o size={self.megabytes}m octavo-test "$1" && exec "$2" -D -e -f "$3"')
        with (self.folder / f"sshd{host}.log").open("wb") as log:
            self.servers.append(subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", self.namespace(host), "unshare", "--uts", "--mount", "sh", "-c", script, "sh",
                 self.disk, shutil.which("sshd", path="/usr/sbin:/usr/bin"), self.folder / "sshd_config"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    def _wait_for_server(self, host):
        end = time.monotonic() + 10
        while True:
            try:
                call(*self.inside(host, [self.ssh, self.hosts[host], "true"]))
                return
            except OSError as error:
                if time.monotonic() > end:
                    log = (self.folder / f"sshd{host}.log").read_text(errors="replace")
                    raise OSError(f"no sshd on {self.hosts[host]}: {error}; {log}") from error
                time.sleep(0.05)

    def cut(self, host):
        """Takes the host's cable out."""
        call("ip", "-n", self.switch, "link", "set", f"port{host}", "down")

    def mend(self, host):
        call("ip", "-n", self.switch, "link", "set", f"port{host}", "up")

    def processes(self, host):
        return [int(pid) for pid in call("ip", "netns", "pids", self.namespace(host)).split()]

    def bytes_sent(self):
        """By each host since the start, with the heads of packets."""
        lines = [call("ip", "-n", self.namespace(host), "-s", "-o", "link", "show", "eth0") for host in range(len(self.hosts))]
        return [int(line.split("TX:")[1].split("\\")[1].split()[0]) for line in lines]

    def kill_jobs(self):
        """Ends everything on the hosts but the sshds."""
        servers = {server.pid for server in self.servers}
        for host in range(len(self.hosts)):
            self._kill(self.namespace(host), servers)

    def _kill(self, name, spared=()):
        for _ in range(50):
            pids = [int(pid) for pid in call("ip", "netns", "pids", name).split()]
            pids = [pid for pid in pids if pid not in spared and not is_zombie(pid)]
            if not pids:
                return
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def _delete(self, name):
        self._kill(name)
        call("ip", "netns", "delete", name)

    def close(self):
        self.closing.close()
        for server in self.servers:
            server.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def is_zombie(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
