"""What serves metrics to autoscalers: Prometheus, which scrapes the gateways' pods, prometheus-adapter with the rule of k8s/README.md, and
metrics-server, as processes of this machine behind the API server's aggregation. Standard library only."""
import json
import os
import re

from cluster import NODE_IP

PROMETHEUS = 9090
TARGETS = "targets.json"
# Each with the API that it serves and its port.
SERVERS = {"prometheus-adapter": ("custom.metrics.k8s.io", "v1beta1", 6451), "metrics-server": ("metrics.k8s.io", "v1beta1", 6452)}
# Debian's Prometheus knows no Kubernetes: it reads the pods from a file (`scraped`).
SCRAPES = """global: {{scrape_interval: 2s}}
scrape_configs: [{{job_name: warmpath, file_sd_configs: [{{files: [{targets}]}}]}}]
"""


def rule(readme):
    """The rules that the README gives for pods metrics, as prometheus-adapter reads them."""
    with open(readme, encoding="utf-8") as f:
        found = re.search(r"^ {4}rules:\n(?: {6}.*\n)+", f.read(), re.M)
    if not found:
        raise SystemExit(f"{readme} has no rules for prometheus-adapter")
    return re.sub(r"^ {4}", "", found[0], flags=re.M)


def scraped(cluster, space, pods):
    """Prometheus scrapes these pods from now on, with the labels that a PodMonitor gives."""
    new = cluster.write(TARGETS + ".new", json.dumps([
        {"targets": [f"{pod['status']['podIP']}:8000"], "labels": {"namespace": space, "pod": pod["metadata"]["name"]}} for pod in pods]))
    os.replace(new, cluster.path(TARGETS))


def serve(cluster, prometheus, readme):
    """Both APIs answer when this returns."""
    cluster.start(prometheus, "--config.file=" + cluster.write("prometheus.yml", SCRAPES.format(targets=cluster.path(TARGETS))),
                  "--storage.tsdb.path=" + cluster.path("prometheus"), f"--web.listen-address={NODE_IP}:{PROMETHEUS}")
    for name, (_, _, port) in SERVERS.items():
        own = ([f"--prometheus-url=http://{NODE_IP}:{PROMETHEUS}", "--config=" + cluster.write("rules.yaml", rule(readme)), "--metrics-relist-interval=5s",
                "--metrics-max-age=1m", "--lister-kubeconfig=" + cluster.config]
               if name == "prometheus-adapter" else
               ["--kubeconfig=" + cluster.config, "--kubelet-insecure-tls", "--kubelet-preferred-address-types=InternalIP", "--metric-resolution=10s", "--kubelet-request-timeout=5s"])
        cluster.start(name, *own, f"--secure-port={port}", "--cert-dir=" + cluster.path(name), "--authentication-kubeconfig=" + cluster.config,
                      "--authorization-kubeconfig=" + cluster.config)
    for name, (group, version, port) in SERVERS.items():
        cluster.kubectl("apply", "-f", "-", text=BEHIND.format(name=name, group=group, version=version, port=port, ip=NODE_IP))
    for group, version, _ in SERVERS.values():
        cluster.until(f"API {group}", lambda name=f"{version}.{group}": any(
            c["type"] == "Available" and c["status"] == "True" for c in cluster.found("apiservice", name).get("status", {}).get("conditions", [])))


BEHIND = """apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: kube-system}}
spec: {{ports: [{{name: https, port: 443, targetPort: {port}}}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: {name}, namespace: kube-system, labels: {{kubernetes.io/service-name: {name}}}}}
addressType: IPv4
ports: [{{name: https, port: {port}}}]
endpoints: [{{addresses: [{ip}]}}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{name: {version}.{group}}}
spec: {{group: {group}, version: {version}, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {{name: {name}, namespace: kube-system}}}}
"""
