"""Containers for pages that start some: podman with storage, networks and state in the page's folder; images of this machine are read, none is changed."""
import os
import pathlib
import resource
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMPOSE = ROOT / "target/compose/venv/bin/podman-compose"
PROMETHEUS = ROOT / ".tools/prometheus/usr/bin/prometheus"
STORAGE = """[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
[storage.options]
additionalimagestores = ["{images}"]
"""
# No systemd in the page's namespaces; limits that podman would raise, which not every root may.
CONTAINERS = """[containers]
default_ulimits = ["nofile={files}:{files}", "nproc=4096:4096"]
[engine]
{runtime}
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{folder}/libpod"
static_dir = "{folder}/static"
volume_path = "{folder}/volumes"
[network]
network_config_dir = "{folder}/networks"
"""
# As the usual image is: a user without rights, who owns the volume.
PROMETHEUS_IMAGE = """FROM {image}
COPY prometheus /bin/prometheus
COPY --chown=65534 data /prometheus
USER 65534
ENTRYPOINT ["/bin/prometheus"]
CMD []
"""


def image():
    pom = (ROOT / "pom.xml").read_text(encoding="utf-8")
    return f"localhost/warmpath:{pom.partition('<version>')[2].partition('</version>')[0]}"


def lacking():
    if not shutil.which("podman") or not COMPOSE.exists():
        return "podman and podman-compose"
    if not any(os.access(f"/usr/{lib}/podman/aardvark-dns", os.X_OK) for lib in ("lib", "libexec")):
        return "aardvark-dns"
    if subprocess.run(["podman", "image", "exists", image()]).returncode:
        return f"{image()} (./warmpath image --tool buildah)"
    return None if PROMETHEUS.exists() else "prometheus"


def settings(folder):
    """The environment of podman and podman-compose, whose files are below `folder`."""
    images = subprocess.run(["podman", "info", "--format", "{{.Store.GraphRoot}}"], check=True, capture_output=True, text=True).stdout.strip()
    # What podman and its network programs write elsewhere is the page's own, too: this is its mount namespace.
    for state in ("/run/containers", "/run/libpod", "/run/netns"):
        os.makedirs(state, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", state], check=True)
    own, files = folder / ".containers", min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    build = own / "prometheus"
    (build / "data").mkdir(parents=True)
    # crun, podman's first choice, refuses control groups of both versions beside each other.
    runtime = 'runtime = "runc"' if shutil.which("runc") and os.path.isdir("/sys/fs/cgroup/unified") else ""
    (own / "storage.conf").write_text(STORAGE.format(folder=own, images=images))
    (own / "containers.conf").write_text(CONTAINERS.format(folder=own, files=files, runtime=runtime))
    given = {"CONTAINERS_STORAGE_CONF": f"{own}/storage.conf", "CONTAINERS_CONF": f"{own}/containers.conf", "PROMETHEUS_IMAGE": "localhost/prometheus:test"}
    shutil.copy(PROMETHEUS, build)
    (build / "Dockerfile").write_text(PROMETHEUS_IMAGE.format(image=image()))
    subprocess.run(["podman", "build", "--quiet", "--isolation", "chroot", "--tag", given["PROMETHEUS_IMAGE"], build], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, **given})
    return given
