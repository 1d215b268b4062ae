#!/usr/bin/python3
"""Tests the memory control group runner on children that take a known amount.

Exit 77, which ctest treats as skipped, if no group can be created; under CI=true that is a failure.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RUNNER = pathlib.Path(__file__).with_name("memory_cgroup")
PYTHON = "/usr/bin/python3"
MIB = 1 << 20


def groups():
    return set(pathlib.Path("/sys/fs/cgroup").glob("**/octavo-test-*"))


class MemoryCgroupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_python(self, limit, code, *flags):
        """Returns the exit code of the runner and its report."""
        report = self.folder / "report.json"
        result = subprocess.run([RUNNER, "--limit", limit, "--report", report, *flags, "--", PYTHON, "-c", code])
        return result.returncode, json.loads(report.read_text())

    def test_a_child_below_the_limit_passes_with_a_plausible_peak(self):
        code, report = self.run_python("96MiB", f"block = bytearray({40 * MIB})")
        self.assertEqual(code, 0)
        self.assertEqual(report["exit_code"], 0)
        self.assertEqual(report["oom_kills"], 0)
        self.assertEqual(report["limit_bytes"], 96 * MIB)
        self.assertGreater(report["seconds"], 0)
        if report["peak_bytes"] is not None:  # Linux before 5.19 with groups of version 2
            self.assertGreater(report["peak_bytes"], 40 * MIB)
            self.assertLess(report["peak_bytes"], 80 * MIB)

    def test_a_child_above_the_limit_is_reported_as_killed(self):
        code, report = self.run_python("64MiB", f"block = bytearray({200 * MIB})")
        self.assertEqual(code, 128 + signal.SIGKILL)
        self.assertEqual(report["signal"], signal.SIGKILL)
        self.assertGreater(report["oom_kills"], 0)
        if report["peak_bytes"] is not None:
            self.assertLessEqual(report["peak_bytes"], 64 * MIB)

    def test_the_page_cache_of_a_cold_file_counts(self):
        file = self.folder / "file"
        file.write_bytes(os.urandom(32 * MIB))
        read = f"open({str(file)!r}, 'rb', buffering=0).read({32 * MIB})"
        code, report = self.run_python("256MiB", read, "--cold", file)
        self.assertEqual(code, 0)
        self.assertGreaterEqual(report["rchar"], 32 * MIB)
        if report["read_bytes"] < 32 * MIB:
            self.skipTest("the folder of temporary files is on no disk")
        if report["peak_bytes"] is not None:
            self.assertGreater(report["peak_bytes"], 64 * MIB)  # the buffer and the cache

    def test_bytes_written_and_the_exit_code_are_the_commands(self):
        code, report = self.run_python(
            "96MiB", f"open({str(self.folder / 'out')!r}, 'wb').write(bytes({4 * MIB})); raise SystemExit(3)")
        self.assertEqual((code, report["exit_code"], report["signal"]), (3, 3, None))
        self.assertGreaterEqual(report["wchar"], 4 * MIB)

    def test_a_signal_ends_the_command_and_removes_the_group(self):
        started = self.folder / "started"
        sleeper = f"import time, pathlib; pathlib.Path({str(started)!r}).write_text(''); time.sleep(600)"
        before = groups()
        runner = subprocess.Popen([RUNNER, "--limit", "96MiB", "--", PYTHON, "-c", sleeper])
        while not started.exists() and runner.poll() is None:
            time.sleep(0.01)
        during = groups() - before
        runner.send_signal(signal.SIGTERM)
        self.assertEqual(runner.wait(60), 128 + signal.SIGTERM)
        mine = [group for group in during if group.name.endswith(f"-{runner.pid}")]
        self.assertEqual(len(mine), 1)
        self.assertFalse(mine[0].exists())

    def test_wrong_usage(self):
        for arguments in (["--limit", "much", "--", "true"], ["--limit", "0", "--", "true"], ["--limit", "1GiB"], ["true"]):
            result = subprocess.run([RUNNER, *arguments], capture_output=True)
            self.assertEqual(result.returncode, 2, arguments)


if __name__ == "__main__":
    probe = subprocess.run([RUNNER, "--limit", "96MiB", "--report", "/dev/null", "--", "true"])
    if probe.returncode == 77:
        sys.exit(1 if os.environ.get("CI") in ("true", "1") else 77)
    unittest.main()
