"""A Kubernetes of one node: etcd, API server, controllers, scheduler, containerd, kubelet, kube-proxy and CoreDNS as processes of this
machine.

To be started as the first process of a pid, a mount and a network namespace of its own (run.sh): what is started, mounted and changed in the
network ends with them. Standard library only.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python/process"))
from chats import answers, awaited  # noqa: E402

NODE = "node"
NODE_IP = "10.230.0.1"
SERVICES = "10.231.0.0/24"
PODS = "10.232.0.0/24"
DOMAIN = "cluster.local"
# What a kubelet sets for the whole kernel. It finds these files in their place and changes nothing.
KERNEL = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
          "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}
# Users by their tokens, and their groups.
USERS = {"admin": ("admin", "system:masters"), NODE: (f"system:node:{NODE}", "system:nodes"),
         **{name: (f"system:{name}", "") for name in ("kube-controller-manager", "kube-scheduler", "kube-proxy")}}


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)[:400]}: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


class Cluster:
    """`tools`: where the servers lie; `folder`: an empty one for data and logs; `cgroup`: the control group, made before, that pods are below."""

    def __init__(self, tools, folder, cgroup):
        self.tools, self.folder, self.cgroup = tools, folder, cgroup
        self.processes = {}
        self.socket = self.path("containerd.sock")
        self.config = self.kubeconfig("admin")
        os.environ["KUBECACHEDIR"] = self.path("kubectl")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text if isinstance(text, str) else json.dumps(text))
        return self.path(name)

    def start(self, program, *arguments):
        """One of `tools`, of PATH, or by its whole path."""
        own, name = os.path.join(self.tools, program), os.path.basename(program)
        with open(self.path(name + ".log"), "wb") as log:
            self.processes[name] = subprocess.Popen([own if os.path.exists(own) else program, *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def until(self, what, condition, seconds=300):
        def alive():
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise SystemExit(f"{what}: {name} ended with {process.returncode}: {self.log(name)}")
            return condition()
        return awaited(f"{what} (logs in {self.folder})", alive, seconds, 0.2)

    def log(self, program):
        with open(self.path(program + ".log"), encoding="utf-8", errors="replace") as f:
            return f.read()[-2000:]

    def kubeconfig(self, user):
        """A file by which this user reaches the API server."""
        return self.write(user + ".kubeconfig", {
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": user}}],
            "clusters": [{"name": "here", "cluster": {"server": f"https://{NODE_IP}:6443", "certificate-authority": self.path("certs/apiserver.crt")}}],
            "users": [{"name": user, "user": {"token": user}}]})

    def kubectl(self, *arguments, text=None):
        return run(os.path.join(self.tools, "venv/bin/kubectl"), "--kubeconfig", self.config, *arguments, input=text)

    def found(self, *arguments):
        return json.loads(self.kubectl("get", "-o", "json", *arguments))

    # ---- start ----------------------------------------------------------------------------------------------------------------------------

    def up(self):
        """The node is ready when this returns."""
        self.own_machine()
        self.control_plane()
        self.node()
        self.names()
        self.until("a node that is ready", self.node_is_ready)

    def own_machine(self):
        for folder in ("/run", "/var/lib", "/var/log"):
            run("mount", "-t", "tmpfs", "tmpfs", folder)
        # Volumes that the kubelet mounts are to be seen by containers.
        run("mount", "--make-rshared", "/")
        os.mkdir(self.path("kernel"))
        for key, value in KERNEL.items():
            run("mount", "--bind", self.write("kernel/" + key.replace("/", "-"), f"{value}\n"), "/proc/sys/" + key)
        for command in ("link set lo up", "link add node type veth peer name nowhere", f"address add {NODE_IP}/24 dev node", "link set node up",
                        "link set nowhere up", "route add default via 10.230.0.254 dev node"):
            run("ip", *command.split())
        run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")

    def control_plane(self):
        key = self.path("service-account.pem")
        run("openssl", "genrsa", "-out", key, "2048")
        self.write("tokens.csv", "".join(f'{token},{user},{token},"{groups}"\n' for token, (user, groups) in USERS.items()))
        self.start("etcd", "--data-dir=" + self.path("etcd"))
        self.start("kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--advertise-address=" + NODE_IP, "--cert-dir=" + self.path("certs"),
                   "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
                   "--service-cluster-ip-range=" + SERVICES, "--authorization-mode=Node,RBAC", "--token-auth-file=" + self.path("tokens.csv"),
                   "--kubelet-preferred-address-types=InternalIP", *self.front_proxy())
        self.until("an API server", lambda: os.path.exists(self.path("certs/apiserver.crt")) and self.is_ready())
        self.start("kube-controller-manager", "--kubeconfig=" + self.kubeconfig("kube-controller-manager"), "--leader-elect=false", "--secure-port=0",
                   "--service-account-private-key-file=" + key, "--root-ca-file=" + self.path("certs/apiserver.crt"), "--use-service-account-credentials",
                   "--horizontal-pod-autoscaler-sync-period=5s")
        self.start("kube-scheduler", "--kubeconfig=" + self.kubeconfig("kube-scheduler"), "--leader-elect=false", "--secure-port=0")

    def front_proxy(self):
        """Flags by which the API server shows servers behind it who asks them."""
        key, request, certificate, ca, ca_key = (self.path("front-proxy" + end) for end in (".key", ".csr", ".crt", "-ca.crt", "-ca.key"))
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=front-proxy-ca", "-keyout", ca_key, "-out", ca)
        run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=front-proxy", "-keyout", key, "-out", request)
        run("openssl", "x509", "-req", "-days", "1", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-out", certificate)
        return ["--client-ca-file=" + ca, "--requestheader-client-ca-file=" + ca, "--requestheader-allowed-names=front-proxy", "--requestheader-username-headers=X-Remote-User",
                "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--proxy-client-cert-file=" + certificate,
                "--proxy-client-key-file=" + key, "--enable-aggregator-routing=true"]

    def is_ready(self):
        try:
            return self.kubectl("get", "--raw", "/readyz") == "ok"
        except SystemExit:
            return False

    def node(self):
        os.makedirs(self.path("cni"))
        self.write("cni/10-pods.conflist", {"cniVersion": "0.4.0", "name": "pods", "plugins": [
            {"type": "ptp", "ipam": {"type": "host-local", "ranges": [[{"subnet": PODS}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": self.path("addresses")}}]})
        self.write("containerd.toml", CONTAINERD.format(folder=self.folder, socket=self.socket))
        self.start("containerd", "--config", self.path("containerd.toml"))
        self.until("containerd", lambda: subprocess.run(self.ctr("version"), capture_output=True).returncode == 0)
        self.write("kubelet.json", {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "containerRuntimeEndpoint": f"unix://{self.socket}",
            "failCgroupV1": False, "cgroupDriver": "cgroupfs", "cgroupRoot": self.cgroup, "oomScoreAdj": 0, "failSwapOn": False,
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}}, "authorization": {"mode": "AlwaysAllow"},
            "clusterDNS": [NODE_IP], "clusterDomain": DOMAIN, "resolvConf": "", "podLogsDir": self.path("pods"), "volumePluginDir": self.path("plugins"),
            "enforceNodeAllocatable": ["pods"], "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100, "registerNode": True})
        self.start("kubelet", "--config", self.path("kubelet.json"), "--kubeconfig", self.kubeconfig(NODE), "--hostname-override", NODE,
                   "--node-ip", NODE_IP, "--root-dir", self.path("kubelet"), "--cert-dir", self.path("kubelet-certs"))
        self.write("proxy.json", {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "iptables", "clusterCIDR": PODS,
            "hostnameOverride": NODE, "clientConnection": {"kubeconfig": self.kubeconfig("kube-proxy")}, "conntrack": {"maxPerCore": 0}, "oomScoreAdj": 0})
        self.start("kube-proxy", "--config", self.path("proxy.json"))

    def names(self):
        """Of Services, for pods."""
        self.write("Corefile", f".:53 {{\n  errors\n  ready {NODE_IP}:8181\n  kubernetes {DOMAIN} {{\n    kubeconfig {self.config} here\n  }}\n}}\n")
        self.start("coredns", "-conf", self.path("Corefile"))
        self.until("names of Services", lambda: answers(f"http://{NODE_IP}:8181/ready"))

    def ctr(self, *arguments):
        return ["ctr", "--address", self.socket, "--namespace", "k8s.io", *arguments]

    def load(self, archive, name, *others):
        """The image in the archive, which has that name, by the other ones too."""
        run(*self.ctr("images", "import", archive))
        for other in others:
            run(*self.ctr("images", "tag", name, other))

    def node_is_ready(self):
        nodes = self.found("nodes")["items"]
        return any(c["type"] == "Ready" and c["status"] == "True" for n in nodes for c in n["status"].get("conditions", []))

    def down(self):
        for process in reversed(list(self.processes.values())):
            process.kill()

    # ---- what runs ------------------------------------------------------------------------------------------------------------------------

    def why_not(self, namespace):
        """What one would look at: pods, their events, the ends of their logs."""
        shown = [self.kubectl("get", "pods", "-n", namespace, "-o", "wide"),
                 self.kubectl("get", "events", "-n", namespace, "--sort-by=.lastTimestamp")[-4000:]]
        for pod in self.found("pods", "-n", namespace)["items"]:
            for container in pod["status"].get("containerStatuses", []):
                if not container["ready"]:
                    log = subprocess.run([os.path.join(self.tools, "venv/bin/kubectl"), "--kubeconfig", self.config, "logs", "-n", namespace,
                                          pod["metadata"]["name"], "-c", container["name"], "--tail=15"], capture_output=True, text=True)
                    shown.append(f"{pod['metadata']['name']} {container['state']}\n{log.stdout}{log.stderr}")
        return "\n".join(shown)


CONTAINERD = """version = 2
root = "{folder}/containerd"
state = "{folder}/containerd-state"
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.opt"]
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  # Lowering it, as Kubernetes would for some pods, needs a capability that not every root has.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
"""
