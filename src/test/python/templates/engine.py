"""Drives `./warmpath render`, or another command that does the same, as one process."""
import json
import os
import pathlib
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[4]


class Engine:
    """WARMPATH_RENDER: the command, if not ./warmpath render."""

    def __init__(self):
        command = os.environ.get("WARMPATH_RENDER")
        argv = shlex.split(command) if command else [str(ROOT / "warmpath"), "render"]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def render_all(self, cases):
        """Answers in order; few enough cases at a time that no pipe fills up."""
        answers = []
        for case in cases:
            self.process.stdin.write(json.dumps(case).encode() + b"\n")
            self.process.stdin.flush()
            answers.append(json.loads(self.process.stdout.readline()))
        return answers

    def close(self):
        self.process.stdin.close()
        return self.process.wait()
