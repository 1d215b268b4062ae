"""A real file system in a file, whose power can be cut, for tests that run as root.

Mounts made here are visible only to this process and its children, and disappear with them, however they end: the
process gets its own mount namespace, and all files lie in a tmpfs that is mounted there.
"""

import ctypes
import fcntl
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

CLONE_NEWNS = 0x00020000
FS_IOC_SHUTDOWN = 0x8004587D  # _IOR('X', 125, __u32): XFS's GOINGDOWN, which ext4 and others adopted
NOLOGFLUSH = 2  # what is only in memory, also of the journal, is lost
MIB = 1 << 20
# mkfs.xfs refuses sizes below 300 MiB. Images are sparse.
SMALLEST = {"ext4": 8 * MIB, "xfs": 300 * MIB}
MKFS = {"ext4": ["mkfs.ext4", "-q", "-F", "-m", "0", "-b", "4096"], "xfs": ["mkfs.xfs", "-q", "-f"]}
NOTHING_RUN = 77


class NotPossible(Exception):
    """This machine does not permit the process to mount what the test needs."""


def call(*command):
    """Runs a system command; if it fails, raises an OSError with its message."""
    try:
        result = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, check=False)
    except FileNotFoundError as error:
        raise OSError(f"{command[0]}: not installed") from error
    if result.returncode != 0:
        raise OSError(f"{' '.join(map(str, command))}: {result.stderr.strip() or result.returncode}")


class Scratch:
    """A tmpfs in a new folder that no other process sees. Creating it gives the process its own mounts."""

    def __init__(self, megabytes=2048):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNS) != 0:
            raise NotPossible(f"a mount namespace: {os.strerror(ctypes.get_errno())}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="octavo-disk-"))
        try:
            # "Slave": mounts of other processes still come in; none of ours go out.
            call("mount", "--make-rslave", "/")
            call("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "octavo-test", self.folder)
        except OSError as error:
            self.folder.rmdir()
            raise NotPossible(str(error)) from error

    def __enter__(self):
        return self.folder

    def __exit__(self, *_):
        # A busy mount point still disappears with the namespace; the empty folder below it must not stay.
        subprocess.run(["umount", "--lazy", self.folder], check=False)
        self.folder.rmdir()


class LoopDisk:
    """A file system of the kind "ext4" or "xfs" in an image in `folder`, which is a Scratch's."""

    def __init__(self, folder, kind, megabytes=0):
        self.kind = kind
        self.image = folder / f"{kind}.image"
        self.root = folder / kind
        self.bytes = max(megabytes * MIB, SMALLEST[kind])
        self.mounted = False
        self.root.mkdir()

    def __enter__(self):
        self.make()
        return self

    def __exit__(self, *_):
        self.unmount()
        self.image.unlink(missing_ok=True)
        self.root.rmdir()

    def make(self):
        """Mounts an empty file system; replaces the present one."""
        self.unmount()
        self.image.unlink(missing_ok=True)
        with self.image.open("wb") as image:
            image.truncate(self.bytes)
        try:
            call(*MKFS[self.kind], self.image)
            self.mount()
        except OSError as error:
            raise NotPossible(str(error)) from error

    def mount(self):
        # The loop device is set to detach after the unmount.
        call("mount", "-t", self.kind, "-o", "loop", self.image, self.root)
        self.mounted = True

    def unmount(self):
        if not self.mounted:
            return
        for attempt in range(100):
            try:
                call("umount", self.root)
                break
            except OSError:
                if attempt == 99:
                    raise
                time.sleep(0.02)  # a killed process keeps its files for an instant
        self.mounted = False

    def cut_power(self):
        """From now on nothing more reaches the disk: every write and sync fails."""
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_SHUTDOWN, struct.pack("I", NOLOGFLUSH))
        finally:
            os.close(descriptor)

    def restart(self):
        """Mounts what the disk had when the power was cut; the file system recovers by its journal."""
        self.unmount()
        self.mount()

    def free_bytes(self):
        status = os.statvfs(self.root)
        return status.f_bavail * status.f_frsize


def not_possible(reason):
    """Ends a test that could not be run: as skipped, or as failed if CI=true requires that all run."""
    print(f"NOTHING WAS RUN: this requires root, loop devices, mkfs.ext4 and mkfs.xfs: {reason}", file=sys.stderr)
    sys.exit(1 if os.environ.get("CI") in ("true", "1") else NOTHING_RUN)
