"""What the long runs (src/test/e2e, memory, soak) look at: a process' memory and CPU, a gateway's metrics, free ports. Standard library only."""
import os
import random
import re
import socket

METRIC = re.compile(r"([a-z_]+)(\{.*\})? ([0-9.eE+-]+)$")


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise ProcessLookupError(f"process {pid} has ended")


def cpu_seconds(pid):
    """User and system time of all its threads."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def parsed(text):
    """Of the text of /metrics: each name's sum over its labels, each series by its labels, and the number of `series`."""
    values = {"series": 0.0}
    for line in text.splitlines():
        m = METRIC.match(line)
        if m:
            values["series"] += 1
            values[m[1]] = values.get(m[1], 0.0) + float(m[3])
            if m[2]:
                values[m[1] + m[2]] = float(m[3])
    return values


def free_ports(count):
    """The first of so many free ports in a row."""
    for base in random.SystemRandom().sample(range(20000, 32000), 100):
        held = []
        try:
            for port in range(base, base + count):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
        finally:
            for s in held:
                s.close()
    raise SystemExit(f"no {count} free ports in a row between 20000 and 32000")
