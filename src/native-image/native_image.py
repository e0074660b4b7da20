#!/usr/bin/env python3
"""native-image: turns a runnable jar into an executable, as the command of that name in a GraalVM does.

The builder's Java parts have no such command among them where they are published. This one reads the arguments that Quarkus
writes, the native-image.properties and metadata folders of the jars, and starts the builder in a JVM of its own.

  native-image --version
  native-image [OPTIONS] [-o FILE] -jar FILE [NAME]
  native-image [OPTIONS] [-o FILE] -cp PATH CLASS [NAME]
  native-image @FILE            arguments from a file, one or more a line, quoted as in a shell
Options of the builder itself are -H:...; of its JVM -J...; those of OPTIONS below have a name for both. An unknown one is an error.
This file lies in the bin folder of the builder's home. Standard library only.
"""
import hashlib
import pathlib
import re
import shlex
import subprocess
import sys
import uuid
import zipfile

HOME = pathlib.Path(__file__).resolve().parents[1]
BUILDER = "org.graalvm.nativeimage.builder"
METADATA = ("reachability-metadata.json", "reflect-config.json", "jni-config.json", "proxy-config.json", "resource-config.json",
            "serialization-config.json", "predefined-classes-config.json")

# The command's name of an option, and the builder's. {} is the value; without it the option takes none.
OPTIONS = {
    "--no-fallback": "FallbackThreshold=0",
    "--features={}": "Features={}",
    "--enable-url-protocols={}": "EnableURLProtocols={}",
    "--enable-http": "EnableURLProtocols=http",
    "--enable-https": "EnableURLProtocols=https",
    "--enable-monitoring={}": "EnableMonitoringFeatures={}",
    "--enable-native-access={}": "EnableNativeAccess={}",
    "--add-exports={}": "AddExports={}",
    "--add-opens={}": "AddOpens={}",
    "--link-at-build-time": "LinkAtBuildTime=",
    "--link-at-build-time={}": "LinkAtBuildTime={}",
    "--install-exit-handlers": "+InstallExitHandlers",
    "--gc={}": "SupportedGCs={}",
    "--future-defaults={}": "FutureDefaults={}",
    "--trace-object-instantiation={}": "TraceObjectInstantiation={}",
    "--parallelism={}": "NumberOfThreads={}",
    "--native-compiler-path={}": "CCompilerPath={}",
    "--native-compiler-options={}": "CCompilerOption={}",
    "--exact-reachability-metadata": "ThrowMissingRegistrationErrors=",
    "--shared": "+SharedLibrary",
    "-march={}": "MicroArchitecture={}",
    "-O{}": "Optimize={}",
    "-g": "GenerateDebugInfo=2",
}
INITIALIZE = re.compile(r"--initialize-at-(build|run)-time=(.*)", re.S)


def fail(text):
    sys.exit(f"native-image: {text}")


def version():
    release = dict(line.split("=", 1) for line in (HOME / "release").read_text().splitlines() if "=" in line)
    graal = release["GRAALVM_VERSION"].strip('"')
    java = release["JAVA_RUNTIME_VERSION"].strip('"')
    date = release["JAVA_VERSION_DATE"].strip('"')
    print(f"native-image {graal} {date}")
    print(f"GraalVM Runtime Environment GraalVM CE {graal} (build {java})")
    print(f"Substrate VM GraalVM CE {graal} (build {java}, serial gc)")


def words(arguments):
    """Arguments with @FILE replaced by what is in the file."""
    for argument in arguments:
        if argument.startswith("@"):
            yield from words(shlex.split(pathlib.Path(argument[1:]).read_text(), comments=True))
        else:
            yield argument


def translate(argument):
    """The builder's form of one option."""
    if argument.startswith("-H:") or argument.startswith("-R:"):
        return argument
    found = INITIALIZE.fullmatch(argument)
    if found:
        return "-H:ClassInitialization=" + ",".join(f"{name}:{found[1]}_time" for name in found[2].split(",") if name)
    for name, builder in OPTIONS.items():
        head, _, _ = name.partition("{}")
        if argument == name or (head != name and argument.startswith(head) and len(argument) > len(head)):
            return "-H:" + builder.replace("{}", argument[len(head):])
    fail(f"does not know '{argument}'")


class Command:
    def __init__(self, arguments):
        self.jvm = []
        self.builder = []
        self.class_path = []
        self.main = None
        self.output = None
        self.excluded = []
        self.free = []
        self.verbose = False
        self.dry_run = False
        self.read(list(words(arguments)))

    def read(self, arguments):
        while arguments:
            argument = arguments.pop(0)
            if argument == "-jar":
                self.use_jar(pathlib.Path(arguments.pop(0)))
            elif argument in ("-cp", "-classpath", "--class-path"):
                self.class_path += [pathlib.Path(p) for p in arguments.pop(0).split(":")]
            elif argument == "--exclude-config":
                self.excluded.append((re.compile(arguments.pop(0)), re.compile(arguments.pop(0))))
            elif argument == "--verbose":
                self.verbose = True
            elif argument == "--dry-run":
                self.dry_run = True
            elif argument.startswith("-J"):
                self.jvm.append(argument[2:])
            elif argument.startswith("-D"):
                # Both the builder and, at its start, the executable see it.
                self.jvm.append(argument)
            elif argument == "-o":
                self.output = pathlib.Path(arguments.pop(0))
            elif argument in ("--add-exports", "--add-opens", "--features", "--gc"):
                arguments.insert(0, argument + "=" + arguments.pop(0))
            elif argument.startswith("-"):
                self.builder.append(translate(argument))
            else:
                self.free.append(argument)

    def use_jar(self, jar):
        with zipfile.ZipFile(jar) as z:
            manifest = z.read("META-INF/MANIFEST.MF").decode().replace("\r\n", "\n").replace("\n ", "")
        entries = dict(line.split(": ", 1) for line in manifest.splitlines() if ": " in line)
        if "Main-Class" not in entries:
            fail(f"{jar} names no Main-Class")
        self.main = entries["Main-Class"].strip()
        # As the java command does for the jar that it runs.
        for kind in ("opens", "exports"):
            for package in entries.get("Add-" + kind.capitalize(), "").split():
                self.jvm.append(f"--add-{kind}={package}=ALL-UNNAMED")
        self.class_path += [jar] + [jar.parent / p for p in entries.get("Class-Path", "").split()]

    def is_excluded(self, jar, name):
        return any(j.search(str(jar)) and n.search("/" + name) for j, n in self.excluded)

    def use_metadata(self, jar):
        """Arguments and folders of metadata that a jar has below META-INF/native-image."""
        with zipfile.ZipFile(jar) as z:
            names = [n for n in z.namelist() if n.startswith("META-INF/native-image/") and not self.is_excluded(jar, n)]
            for folder in sorted({n.rpartition("/")[0] for n in names if n.rpartition("/")[2] in METADATA}):
                self.builder.append(f"-H:ConfigurationResourceRoots={folder}")
            for name in sorted(n for n in names if n.endswith("/native-image.properties")):
                text = z.read(name).decode().replace("\\\n", "")
                here = name.rpartition("/")[0]
                for line in text.splitlines():
                    key, separator, value = line.partition("=")
                    if not separator or line.lstrip().startswith("#"):
                        continue
                    if key.strip() == "Args":
                        self.read(shlex.split(value.replace("${.}", here)))
                    elif key.strip() == "JavaArgs":
                        self.jvm += shlex.split(value)

    def build_id(self):
        """The same for the same classes and options: the builder's salts come from it."""
        seen = hashlib.sha256("\n".join([self.main, *self.builder]).encode())
        for entry in self.class_path:
            for file in sorted(f for f in entry.rglob("*.class")) if entry.is_dir() else [entry]:
                seen.update(file.read_bytes())
        return uuid.UUID(bytes=seen.digest()[:16], version=4)

    def line(self):
        self.class_path = [p for p in dict.fromkeys(p.resolve() for p in self.class_path) if p.exists()]
        if self.main is None:
            if not self.free:
                fail("wants -jar FILE, or -cp PATH and a class")
            self.main = self.free.pop(0)
        for entry in self.class_path:
            if entry.is_file():
                self.use_metadata(entry)
        name = self.free.pop(0) if self.free else self.main.rpartition(".")[2].lower()
        output = (self.output or pathlib.Path(name)).absolute()
        if self.free:
            fail(f"does not know what to do with {self.free}")
        modules = HOME / "lib/svm/builder"
        libraries = HOME / "lib/svm/clibraries/linux-amd64"
        options = [
            f"-H:Class={self.main}",
            f"-H:Path={output.parent}",
            f"-H:CLibraryPath={libraries},{libraries / 'glibc'}",
            f"-H:Name={output.name}",
            f"-H:ImageBuildID={self.build_id()}",
            *self.builder,
        ]
        return [
            str(HOME / "bin/java"),
            "@" + str(HOME / "lib/svm/builder-jvm.args"),
            "--upgrade-module-path", str(HOME / "lib/jvmci/graal.jar"),
            "--module-path", str(modules),
            *self.jvm,
            "--module", f"{BUILDER}/com.oracle.svm.hosted.NativeImageGeneratorRunner",
            "-imagecp", ":".join(str(p) for p in self.class_path),
            *options,
        ]


def main():
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        version()
        return 0
    command = Command(arguments)
    line = command.line()
    if command.verbose or command.dry_run:
        print(shlex.join(line), file=sys.stderr)
    if command.dry_run:
        return 0
    return subprocess.call(line)


sys.exit(main())
