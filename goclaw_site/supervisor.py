"""A small process supervisor: start, restart with growing delay, stop, leave nobody behind."""

import ctypes
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

from goclaw_site.errors import GoclawError

logger = logging.getLogger(__name__)

STOP_SECONDS = 15.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LONGEST_DELAY = 30.0
_STEADY_SECONDS = 60.0
# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Child:
    """One process of the tree; `pid` is None while it does not run.

    `last`: the others need it, so that it ends after them, by SIGINT (PostgreSQL's fast end).
    """

    name: str
    work: Callable[[], None]
    pid: int | None = None
    last: bool = False
    started: float = 0.0
    failures: int = 0
    due: float = field(default=0.0)

    def fall(self, now: float) -> float:
        """Note a death; gives the delay until the next start, 0.5 to 30 seconds."""
        steady = now - self.started > _STEADY_SECONDS
        self.failures = 1 if steady else self.failures + 1
        delay = min(_LONGEST_DELAY, 0.25 * 2.0**self.failures)
        self.pid, self.due = None, now + delay
        return delay


class Supervisor:
    """Runs children until a signal comes; Ctrl-C in the terminal reaches it alone."""

    def __init__(
        self, children: list[Child], ready: Callable[[], bool], announce: Callable[[], None]
    ) -> None:
        self.children = children
        self.ready = ready
        self.announce = announce
        self.announced = False
        self.signals = 0

    def run(self) -> None:
        """Returns after a clean stop; raises where the first start does not come up."""
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        with self._woken_by_signals() as wake:
            try:
                while not self.signals:
                    self._start_due()
                    self._look()
                    _wait(wake, 0.05 if not self.announced else 1.0)
                    self._reap()
            finally:
                self._stop(wake)

    def _look(self) -> None:
        if not self.announced and self.ready():
            self.announced = True
            self.announce()

    def _start_due(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.pid is None and child.due <= now:
                child.started = now
                child.pid = _fork(child)

    def _reap(self) -> None:
        for pid, status in _ended():
            child = next((each for each in self.children if each.pid == pid), None)
            if child is not None:
                self._fell(child, status)

    def _fell(self, child: Child, status: int) -> None:
        _kill_group(child.pid, signal.SIGKILL)
        delay = child.fall(time.monotonic())
        if not self.announced:
            raise GoclawError(f"{child.name} ended while starting; the lines above say why.")
        how = os.waitstatus_to_exitcode(status)
        logger.warning("%s ended (%s); it starts again in %.1f s", child.name, how, delay)

    def _stop(self, wake: int) -> None:
        """TERM, wait, KILL; a second signal cuts the wait short."""
        already = self.signals
        for last, number in ((False, signal.SIGTERM), (True, signal.SIGINT)):
            pids = [each.pid for each in self.children if each.last is last and each.pid]
            for pid in pids:
                _kill(pid, number)
            self._wait_for(set(pids), wake, already)
            for pid in pids:
                _kill_group(pid, signal.SIGKILL)
        _reap_all(time.monotonic() + 2.0)

    def _wait_for(self, running: set[int], wake: int, already: int) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        while running and time.monotonic() < deadline and self.signals <= max(already, 1):
            running -= {pid for pid, _ in _ended()}
            if running:
                _wait(wake, 0.1)

    @contextmanager
    def _woken_by_signals(self) -> Iterator[int]:
        """A pipe becomes readable with each signal, so that no wait misses one."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        old = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(old)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(reader)
            os.close(writer)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signals += 1


def die_with_parent(number: signal.Signals = signal.SIGTERM) -> None:
    """Ask the kernel for a signal when the parent dies, also by SIGKILL (Linux)."""
    _prctl(_PR_SET_PDEATHSIG, number)


def _fork(child: Child) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        _become_child(parent)
        child.work()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        logger.exception("%s failed", child.name)
    finally:
        # Nothing of the parent's stack may run a second time.
        os._exit(code)


def _become_child(parent: int) -> None:
    signal.set_wakeup_fd(-1)
    for number in (*_SIGNALS, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    die_with_parent()
    if os.getppid() != parent:
        # It died before the line above took effect.
        os._exit(1)


def _ended() -> Iterator[tuple[int, int]]:
    """Everybody who has ended, orphaned grandchildren included."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            yield pid, status


def _reap_all(deadline: float) -> None:
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            time.sleep(0.02)


def _wait(wake: int, seconds: float) -> None:
    readable, _, _ = select.select([wake], [], [], seconds)
    if readable:
        with suppress(BlockingIOError):
            os.read(wake, 1024)


def _kill(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _kill_group(pid: int | None, number: signal.Signals) -> None:
    """A child leads a session, so its own children are in its group."""
    with suppress(ProcessLookupError, PermissionError):
        if pid is not None:
            os.killpg(pid, number)


def _prctl(option: int, value: int) -> None:
    if _LIBC is not None:
        _LIBC.prctl(option, value, 0, 0, 0)


_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
