"""What a user does with k8s: a copy of it, changed for the cluster at hand, and the commands of the docs. Standard library only."""
import os
import re
import shutil
import socket
import subprocess
import time

from cluster import awaited, run

# Less than the manifests ask for: one node of two cores holds a rolling update of all of it.
GATEWAY = (('cpu: "1"\n', "cpu: 200m\n"), ("memory: 1Gi\n", "memory: 384Mi\n"), ("memory: 2Gi\n", "memory: 768Mi\n"))
STREAMS_A_GATEWAY = 4
CHANGES = {
    "base/deployment.yaml": GATEWAY,
    "components/autoscaling/horizontalpodautoscaler.yaml": (('averageValue: "400"\n', f'averageValue: "{STREAMS_A_GATEWAY}"\n'),),
    "helm/warmpath/values.yaml": GATEWAY,
    "overlays/ha-nats/nats-statefulset.yaml": (("cpu: 500m\n", "cpu: 50m\n"), ("memory: 1Gi\n", "memory: 64Mi\n"), ("memory: 2Gi\n", "memory: 256Mi\n")),
    "workers/sglang/kustomization.yaml": (("resources:\n", "components:\n  - ../../simulated\nresources:\n"),),
}
PROGRAMS = r"(?:kubectl|helm|curl)"
REMOVES = re.compile(r"kubectl delete |helm uninstall ")


def copy(root, folder):
    """k8s in `folder`, with resources for a small node and simulated engines. A text that is not there once ends the program."""
    shutil.copytree(os.path.join(root, "k8s"), os.path.join(folder, "k8s"))
    shutil.copytree(os.path.join(root, "src/test/pods/simulated"), os.path.join(folder, "k8s/simulated"))
    for name, changes in CHANGES.items():
        path = os.path.join(folder, "k8s", name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for old, new in changes:
            if text.count(old) != 1:
                raise SystemExit(f"k8s/{name} has {old!r} {text.count(old)} times; manifests.py changes it once")
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def commands(text):
    """Those in blocks of `sh`, each with the lines that continue it."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text.replace("\\\n", " "), re.M | re.S))
    return [found.strip() for found in re.findall(rf"^({PROGRAMS} .*)$", blocks, re.M)]


def section(path, heading):
    """The text below a heading of a Markdown file, up to the next heading."""
    with open(path, encoding="utf-8") as f:
        found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", f.read(), re.M | re.S)
    if not found or not commands(found[1]):
        raise SystemExit(f"{path} has no commands below '{heading}'")
    return found[1]


class Shell:
    """Where a user types: in the folder with the copy of k8s, with kubectl and helm that reach this cluster."""

    def __init__(self, cluster, folder):
        self.folder, self.forwards = folder, []
        self.environment = {**os.environ, "KUBECONFIG": cluster.config, "PATH": f"{cluster.tools}/venv/bin:{cluster.tools}:{os.environ['PATH']}",
                            **{f"HELM_{kind}_HOME": cluster.path("helm") for kind in ("CACHE", "CONFIG", "DATA")}}

    def run(self, lines):
        """One after the other; the output of each. A failure ends the program with what it said."""
        return [self.type(line) for line in lines]

    def type(self, line):
        began = time.monotonic()
        if " port-forward " in line:
            said = self.forward(line)
        else:
            said = run("sh", "-ec", line, cwd=self.folder, env=self.environment)
        print(f"  $ {line.partition('  #')[0]}  [{time.monotonic() - began:.0f} s]", flush=True)
        return said

    def forward(self, line):
        """In the background, as its reader has it in another terminal."""
        self.forwards.append(subprocess.Popen(["sh", "-c", "exec " + line.partition("  #")[0].strip().removesuffix("&")], cwd=self.folder,
                                              env=self.environment, stdout=subprocess.DEVNULL))
        port = int(re.search(r" (\d+):\d+", line)[1])

        def listens():
            if self.forwards[-1].poll() is not None:
                raise SystemExit(f"{line}: ended with {self.forwards[-1].returncode}")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        awaited(line, listens, 60)
        return ""

    def end_forwards(self):
        for process in self.forwards:
            process.kill()
            process.wait()
        self.forwards.clear()
