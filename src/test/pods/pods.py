#!/usr/bin/env python3
"""The manifests and the chart of k8s as real pods on a Kubernetes of one node. Standard library only; run.sh starts it.

  pods.py --root DIR --folder DIR --cgroup NAME --images DIR --prometheus PROGRAM [--only CASE] [--keep]

Cases: embedded, chart, ha-nats. Each is set up, and taken away, by the commands of its section in src/docs/how-to/kubernetes.md, run in a copy of k8s
with engines that are simulated (manifests.py). --keep waits for Ctrl-C at the end, or where something failed, with the cluster up.
"""
import argparse
import http.client
import json
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import Cluster  # noqa: E402
from chats import MODEL, Chat, Streams, awaited, get, words  # noqa: E402
import scaling  # noqa: E402
from manifests import REMOVES, STREAMS_A_GATEWAY, Shell, commands, copy, section  # noqa: E402

SPACE = "models"
GATEWAYS = "app.kubernetes.io/name=warmpath,app.kubernetes.io/component=gateway"
CASES = ("embedded", "chart", "ha-nats")
STREAMS = 6
# On a machine that does other things too.
PATIENCE = 300
# The user of the NATS servers (k8s/overlays/ha-nats/nats-statefulset.yaml).
NATS_USER = 1000


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


class Cases:
    def __init__(self, root, cluster, prometheus):
        self.root, self.cluster, self.prometheus = root, cluster, prometheus
        self.kubectl = lambda *arguments, **more: cluster.kubectl("-n", SPACE, *arguments, **more)
        place = cluster.path("checkout")
        copy(root, place)
        self.shell = Shell(cluster, place)

    def run(self, case):
        began = time.monotonic()
        print(f"{case}:", flush=True)
        getattr(self, case.replace("-", "_"))()
        print(f"{case}: {time.monotonic() - began:.0f} s", flush=True)

    # ---- the cases ------------------------------------------------------------------------------------------------------------------------

    def embedded(self):
        self.by_the_docs("One gateway", self.everything)

    def chart(self):
        def installed():
            self.everything()
            # What `helm install` prints: of a model of the list, with the model's name in it.
            notes = self.shell.type(f"helm get notes warmpath -n {SPACE}").replace("A-MODEL-OF-THE-LIST", MODEL)
            said = []
            for line in commands(notes):
                said.append(self.shell.type(line))
                if "8001:" in line:
                    check(get("http://127.0.0.1:8001/console")[0] == 200, "no console by the notes' port-forward")
            self.answered(said, "chat.completion")
            self.shell.end_forwards()
            self.ready("deployment/warmpath")
        self.by_the_docs("With Helm", installed)

    def ha_nats(self):
        def set_up():
            # The Deployment says nothing about it: the autoscaler asks for two.
            self.cluster.until("two gateways", lambda: len(self.gateways()) == 2)
            self.ready("deployment/warmpath")
            self.everything()
            self.server_of_events_killed()
            self.scaled_by_load()
        self.volumes(3)
        scaling.serve(self.cluster, self.prometheus, os.path.join(self.root, "k8s/README.md"))
        self.by_the_docs("Several gateways and NATS", set_up)

    def by_the_docs(self, heading, then):
        """Sets up, asks and takes away."""
        lines = commands(section(os.path.join(self.root, "src/docs/how-to/kubernetes.md"), heading))
        said = self.shell.run([line for line in lines if not REMOVES.match(line)])
        self.answered([text for line, text in zip(lines, said) if line.startswith("curl ")], '"list"')
        self.shell.end_forwards()
        then()
        self.shell.run([line for line in lines if REMOVES.match(line)])
        check(not self.found("pods"), "pods are left")

    def answered(self, said, what):
        check(not said or any(what in re.sub(r"\s", "", text) for text in said), f"no {what} in what was answered: {said}")

    # ---- what is asked of each ------------------------------------------------------------------------------------------------------------

    def everything(self):
        self.ready("statefulset/sglang", "deployment/warmpath")
        self.engines_found(2)
        self.chats()
        self.metrics_served()
        self.no_restarts()
        self.rolling_update()
        self.worker_killed()
        self.no_restarts()

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
                for pod in self.gateways():
                    awaited(f"a prediction of {pod['metadata']['name']} for chat {i}", lambda at=self.address(pod): Chat(at, text, 8).whole().predicted, PATIENCE)
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
        print(f"  rolling update: {whole} streams whole, {running} of them begun before the old pods went; {steady.finish()} other requests, all answered")

    def worker_killed(self):
        streams = Streams(self.service(), STREAMS, 400)
        name = streams.began[0]
        moved = streams.began.count(name)
        self.kubectl("delete", "pod", name, "--grace-period=0", "--force")
        streams.finish()
        self.ready("statefulset/sglang")
        self.engines_found(2)
        print(f"  {name} killed: its {moved} streams went on elsewhere, all {STREAMS} whole; its successor was found")

    def server_of_events_killed(self):
        steady = Steady(self.service())
        self.kubectl("delete", "pod", "nats-1", "--grace-period=0", "--force")
        self.ready("statefulset/nats")
        self.chats()
        print(f"  nats-1 killed: {steady.finish()} other requests, all answered")

    def scaled_by_load(self):
        """More streams than two gateways are to carry: the autoscaler reads them off the gateways' metrics."""
        streams = Streams(self.service(), STREAMS_A_GATEWAY * 3, 1600)

        def third():
            gateways = self.gateways()
            scaling.scraped(self.cluster, SPACE, gateways)
            return len(gateways) == 3
        self.cluster.until("a third gateway", third)
        read = {}

        def both_metrics():
            for metric in self.cluster.found("horizontalpodautoscaler", "warmpath", "-n", SPACE)["status"].get("currentMetrics", []):
                if metric["type"] == "Pods":
                    read[metric["pods"]["metric"]["name"]] = metric["pods"]["current"]["averageValue"]
                elif metric.get("resource"):
                    read[metric["resource"]["name"]] = f"{metric['resource']['current'].get('averageUtilization')} %"
            return read.keys() >= {"warmpath_requests_active", "cpu"}
        self.cluster.until("both metrics of the autoscaler", both_metrics)
        whole = len(streams.finish())
        print(f"  the autoscaler read {', '.join(f'{name} {value}' for name, value in sorted(read.items()))} a gateway and made a third one of two; {whole} streams whole")

    def metrics_served(self):
        total = sum(metric(get(self.address(pod) + "/metrics")[1], "warmpath_requests_active") is not None for pod in self.gateways())
        check(total == len(self.gateways()) > 0, "a gateway does not serve warmpath_requests_active")
        policies = {policy["metadata"]["name"] for policy in self.found("networkpolicies")}
        check({"warmpath", "sglang"} <= policies, f"NetworkPolicies: {policies}")
        print(f"  {total} pod(s) serve warmpath_requests_active; NetworkPolicies taken: {', '.join(sorted(policies))} (nothing here enforces them)")

    # ---- what there is --------------------------------------------------------------------------------------------------------------------

    def found(self, kind, *arguments):
        return self.cluster.found(kind, "-n", SPACE, *arguments)["items"]

    def gateways(self):
        """Those that are not at their end."""
        return [pod for pod in self.found("pods", "-l", GATEWAYS) if "deletionTimestamp" not in pod["metadata"] and pod["status"].get("podIP")]

    def address(self, pod):
        return f"http://{pod['status']['podIP']}:8000"

    def service(self):
        """The gateway's Service, by its address in the cluster."""
        return f"http://{self.kubectl('get', 'service', 'warmpath', '-o', 'jsonpath={.spec.clusterIP}')}:80"

    def ready(self, *names, seconds=PATIENCE):
        for name in names:
            try:
                self.kubectl("rollout", "status", name, f"--timeout={seconds}s")
            except SystemExit as error:
                raise Failed(f"{name} does not come up: {error}") from error

    def engines_found(self, count):
        """Each gateway knows so many ready workers."""
        def all_found():
            try:
                return all(metric(get(self.address(pod) + "/metrics")[1], 'warmpath_workers{state="ready"') == count for pod in self.gateways())
            except OSError:  # a pod that is at its end
                return False
        awaited(f"{count} workers found by discovery", all_found, PATIENCE)

    def no_restarts(self):
        for pod in self.found("pods"):
            for container in pod["status"].get("containerStatuses", []):
                check(container["restartCount"] == 0, f"{pod['metadata']['name']} was restarted: {container['lastState']}")

    def gone_by_name(self, names):
        awaited("old pods that are gone", lambda: not names & {pod["metadata"]["name"] for pod in self.found("pods", "-l", GATEWAYS)}, PATIENCE)

    def volumes(self, count):
        """What a storage class would make: a folder of the node for each NATS server."""
        for i in range(count):
            path = self.cluster.path(f"volume{i}")
            os.mkdir(path)
            os.chown(path, NATS_USER, NATS_USER)
            volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"data-nats-{i}"}, "spec": {
                "capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": path},
                "claimRef": {"namespace": SPACE, "name": f"data-nats-{i}"}}}
            self.kubectl("apply", "-f", "-", text=json.dumps(volume))


def metric(text, start):
    """The value of the first series whose line begins so; None without one."""
    return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(start)), None)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--root", "--folder", "--cgroup", "--images", "--prometheus"):
        options.add_argument(name, required=True)
    options.add_argument("--only", choices=CASES)
    options.add_argument("--keep", action="store_true")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cluster = Cluster(os.path.join(given.root, ".tools/kubernetes"), given.folder, given.cgroup)
    began = time.monotonic()
    try:
        cluster.up()
        print(f"a node is ready after {time.monotonic() - began:.0f} s")
        for file in sorted(name for name in os.listdir(given.images) if name.endswith(".names")):
            with open(os.path.join(given.images, file), encoding="utf-8") as names:
                cluster.load(os.path.join(given.images, file.removesuffix(".names") + ".tar"), *names.read().split())
        cases = Cases(given.root, cluster, given.prometheus)
        for case in [given.only] if given.only else CASES:
            cases.run(case)
    except (Failed, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.code, str):
            raise
        print(f"FAILED: {error}\nlogs: {given.folder}", file=sys.stderr)
        sys.exit(cluster.why_not(SPACE))
    finally:
        if given.keep:
            print(f"KUBECONFIG={cluster.config} within the namespaces of process {os.readlink('/proc/self')}; Ctrl-C ends it", flush=True)
            signal.pause()
        cluster.down()


if __name__ == "__main__":
    main()
