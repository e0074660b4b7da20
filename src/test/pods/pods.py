#!/usr/bin/env python3
"""k8s/overlays/embedded as real pods on a Kubernetes of one node. Standard library only; run.sh starts it.

  pods.py --root DIR --folder DIR --cgroup NAME --images DIR [--keep]

The engines are simulated ones in the pods of k8s/workers. --keep waits for Ctrl-C at the end, or where something failed, with the cluster up.
"""
import argparse
import http.client
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import Cluster  # noqa: E402
from chats import Chat, Streams, awaited, get, words  # noqa: E402

SPACE = "models"
GATEWAYS = "app.kubernetes.io/name=warmpath"
ENGINES = "app.kubernetes.io/name=sglang"
STREAMS = 6
# On a machine that does other things too.
PATIENCE = 300


class Failed(Exception):
    pass


def check(right, what):
    if not right:
        raise Failed(what)


class Steady:
    """One chat after the other over the Service, each on a new connection: whatever is not answered is kept."""

    def __init__(self, gateway):
        self.gateway, self.stopped = gateway, threading.Event()
        self.answered, self.lost = 0, []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopped.wait(0.05):
            try:
                Chat(self.gateway, "steady", 4, timeout=30).whole()
                self.answered += 1
            except (OSError, http.client.HTTPException) as error:
                self.lost.append(f"{time.strftime('%T')} {error!r}")

    def finish(self):
        self.stopped.set()
        self.thread.join()
        check(not self.lost, f"{len(self.lost)} of {self.answered + len(self.lost)} requests were not answered: {self.lost[:3]}")
        return self.answered


class Embedded:
    def __init__(self, root, cluster):
        self.root, self.cluster = root, cluster
        self.kubectl = lambda *arguments, **more: cluster.kubectl("-n", SPACE, *arguments, **more)

    def apply(self, name):
        print(self.kubectl("apply", "-k", os.path.join(self.root, "src/test/pods", name)).strip().replace("\n", "; "))

    def delete(self, name):
        self.kubectl("delete", "-k", os.path.join(self.root, "src/test/pods", name), "--wait=false", "--ignore-not-found")

    def ready(self, *names, seconds=PATIENCE):
        for name in names:
            try:
                self.kubectl("rollout", "status", name, f"--timeout={seconds}s")
            except SystemExit as error:
                raise Failed(f"{name} does not come up: {error}\n{self.cluster.why_not(SPACE)}") from error

    def service(self):
        """The gateway's Service, by its address in the cluster."""
        return f"http://{self.kubectl('get', 'service', 'warmpath', '-o', 'jsonpath={.spec.clusterIP}')}:80"

    def workers(self, gateway):
        """The ready workers that a gateway's pod tells of, by name."""
        status, text = get(f"http://{gateway['status']['podIP']}:8000/metrics")
        check(status == 200, f"/metrics says {status}")
        return metric(text, 'warmpath_workers{state="ready"')

    def gateways(self):
        return self.cluster.pods(GATEWAYS)

    def engines_found(self, count):
        """Each gateway knows so many ready workers."""
        def found():
            try:
                return all(self.workers(gateway) == count for gateway in self.gateways())
            except OSError:  # a pod that is at its end
                return False
        awaited(f"{count} workers found by discovery", found, PATIENCE)

    def chats(self):
        """Over the Service, with cached tokens predicted and reported."""
        service, began = self.service(), time.time_ns()
        workers, cached = set(), 0
        for i in range(24):
            text = words(200, f"conversation{began}-{i % 6}")
            answer = Chat(service, text, 8, stream=i % 2 == 0).whole()
            workers.add(answer.worker)
            if i < 6:
                # The events of what was just computed reach every gateway a moment later.
                awaited(f"a prediction for chat {i}", lambda: Chat(service, text, 8).whole().predicted, PATIENCE)
            elif i >= 12:
                check(answer.predicted == answer.cached > 0, f"chat {i}: {answer}")
                cached += answer.cached
        print(f"  24 chats over the Service, at {', '.join(sorted(workers))}; the last 12 found {cached} cached tokens, each as predicted")

    def rolling_update(self):
        # 15 s at 25 ms a token, and a new one every second: some run when the old pod goes, however long the new one takes to come.
        steady, streams = Steady(self.service()), Streams(self.service(), 1, 600)
        before = {pod["metadata"]["name"] for pod in self.gateways()}
        self.kubectl("rollout", "restart", "deployment/warmpath")

        def old_ones_go():
            if not before & {pod["metadata"]["name"] for pod in self.gateways()}:
                return True
            streams.add()
            return False
        awaited("old gateways that go", old_ones_go, PATIENCE, 1)
        running = streams.running()
        check(running > 0, "no stream ran when the old gateway went: nothing was tested")
        self.ready("deployment/warmpath")
        whole = len(streams.finish())
        self.gone_by_name(before)
        print(f"  rolling update: {whole} streams whole, {running} of them begun before the old pod went; {steady.finish()} other requests, all answered")

    def gone_by_name(self, names):
        def gone():
            return not names & {pod["metadata"]["name"] for pod in self.cluster.found("pods", "-n", SPACE, "-l", GATEWAYS)["items"]}
        awaited("old pods that are gone", gone, PATIENCE)

    def worker_killed(self):
        streams = Streams(self.service(), STREAMS, 400)
        name = streams.began[0]
        moved = streams.began.count(name)
        self.kubectl("delete", "pod", name, "--grace-period=0", "--force")
        streams.finish()
        self.ready("statefulset/sglang")
        self.engines_found(2)
        print(f"  {name} killed: its {moved} streams went on elsewhere, all {STREAMS} whole; its successor was found")

    def metrics_served(self):
        total = sum(metric(get(f"http://{pod['status']['podIP']}:8000/metrics")[1], "warmpath_requests_active") is not None for pod in self.gateways())
        check(total == len(self.gateways()) > 0, "a gateway does not serve warmpath_requests_active")
        policies = {policy["metadata"]["name"] for policy in self.cluster.found("networkpolicies", "-n", SPACE)["items"]}
        check({"warmpath", "sglang"} <= policies, f"NetworkPolicies: {policies}")
        print(f"  {total} pod(s) serve warmpath_requests_active; NetworkPolicies taken: {', '.join(sorted(policies))} (nothing here enforces them)")

    def no_restarts(self):
        for pod in self.cluster.found("pods", "-n", SPACE)["items"]:
            for container in pod["status"].get("containerStatuses", []):
                check(container["restartCount"] == 0, f"{pod['metadata']['name']} was restarted: {container['lastState']}")

    def gone(self, selector):
        self.cluster.until("old pods that are gone", lambda: not self.cluster.found("pods", "-n", SPACE, "-l", selector)["items"])

    def run(self):
        self.apply("workers")
        self.apply("embedded")
        self.ready("statefulset/sglang", "deployment/warmpath")
        self.engines_found(2)
        self.chats()
        self.metrics_served()
        self.no_restarts()
        self.rolling_update()
        self.worker_killed()
        self.no_restarts()
        self.delete("embedded")
        self.gone(GATEWAYS)


def metric(text, start):
    """The value of the first series whose line begins so; None without one."""
    return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(start)), None)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--root", "--folder", "--cgroup", "--images"):
        options.add_argument(name, required=True)
    options.add_argument("--keep", action="store_true")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cluster = Cluster(os.path.join(given.root, ".tools/kubernetes"), given.folder, given.cgroup)
    began = time.monotonic()
    try:
        cluster.up()
        print(f"a node is ready after {time.monotonic() - began:.0f} s")
        for name in sorted(os.listdir(given.images)):
            cluster.load(os.path.join(given.images, name))
        cluster.kubectl("create", "namespace", SPACE)
        Embedded(given.root, cluster).run()
    except Failed as error:
        print(f"FAILED: {error}\nlogs: {given.folder}", file=sys.stderr)
        sys.exit(1)
    finally:
        if given.keep:
            print(f"KUBECONFIG={cluster.config} within the namespaces of process {os.readlink('/proc/self')}; Ctrl-C ends it", flush=True)
            signal.pause()
        cluster.down()


if __name__ == "__main__":
    main()
