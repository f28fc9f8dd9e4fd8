"""A process whose CPU time is known once it has ended; shared by the runners of tests."""
import os
import subprocess


class Process(subprocess.Popen):
    """Counts the CPU seconds of the process and of the descendants that it has waited for."""

    cpu_seconds = 0.0

    def _try_wait(self, wait_flags):
        try:
            pid, status, usage = os.wait4(self.pid, wait_flags)
        except ChildProcessError:
            return self.pid, 0
        if pid == self.pid:
            self.cpu_seconds = usage.ru_utime + usage.ru_stime
        return pid, status
