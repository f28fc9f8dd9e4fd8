"""Runs a command whose standard error is a terminal, and prints the terminal's text."""
import os
import pty
import subprocess
import sys

master, slave = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stderr=slave)
os.close(slave)
shown = b""
while True:
    try:
        chunk = os.read(master, 4096)
    except OSError:  # the last writer has closed the terminal
        break
    if not chunk:
        break
    shown += chunk
print(shown.decode().replace("\r", "\n"))
sys.exit(process.wait())
