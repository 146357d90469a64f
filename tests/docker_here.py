"""A real Docker daemon, and images that are built on the spot of what this machine has: no image registry is asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from graphmem.testing import neo4j as jars

IMAGE = Path(__file__).parent / "neo4j" / "image"
TOOLS = ("/bin/sh", "/bin/cp", "/bin/mkdir", "/bin/sed", "/usr/bin/env")
START_SECONDS = 30.0


class Lacking(Exception):
    """What this machine does not have; the message says what."""


def docker(*arguments: str, seconds: float = 600.0) -> str:
    """What a docker command prints; raises `Lacking` with what it said where it fails."""
    environment = {**os.environ, "DOCKER_BUILDKIT": "0"}  # the daemon's own builder, which needs no plug-in
    try:
        done = subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=seconds, env=environment, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Lacking(f"docker {arguments[0]}: {error}") from error
    if done.returncode:
        raise Lacking(f"docker {' '.join(arguments[:2])} failed: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout.strip()


def docker_version() -> str:
    """The daemon's."""
    return docker("version", "--format", "{{.Server.Version}}", seconds=20)


def daemon(stack: ExitStack) -> None:
    """Make sure that a Docker daemon answers: the machine's own, else one of ours, which ends with the stack."""
    try:
        docker_version()
        return
    except Lacking as error:
        lacking = error
    program = shutil.which("dockerd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if program is None or shutil.which("docker") is None:
        raise Lacking("Docker: no daemon answers, and docker and dockerd are not both installed to start one") from lacking
    if os.geteuid():
        raise Lacking(f"Docker: no daemon answers ({lacking}), and only root can start one")
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphmem-docker-", ignore_cleanup_errors=True)))
    command = [
        *jars.ending_with_us(),
        program,
        "--data-root",
        f"{folder}/data",
        "--exec-root",
        f"{folder}/exec",
        "-p",
        f"{folder}/pid",
        "-H",
        f"unix://{folder}/s",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    stack.callback(_stop, process)
    os.environ["DOCKER_HOST"] = f"unix://{folder}/s"
    stack.callback(os.environ.pop, "DOCKER_HOST", None)
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            docker_version()
            return
        except Lacking as error:
            if process.poll() is not None or time.monotonic() > deadline:
                said = (folder / "log").read_text(errors="replace")[-2000:]
                raise Lacking(f"Docker: dockerd does not start on this machine ({error}); it said: {said}") from error
            time.sleep(0.2)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def neo4j_image(stack: ExitStack, release: str) -> str:
    """An image of a Neo4j server: this machine's Java, the libraries that it links, and the jars that Maven brings.

    It takes the settings of the official image from the environment. It goes with the stack.
    """
    if (missing := jars.lacking(release)) is not None:
        raise Lacking(f"{missing}, of which the image would be built")
    daemon(stack)
    chosen = jars.RELEASES[release]
    runtime = jars.java(chosen.java)
    assert runtime is not None
    with tempfile.TemporaryDirectory(prefix="graphmem-image-") as folder:
        context = Path(folder)
        _assemble(context / "root", runtime.resolve().parents[1])
        shutil.copytree(jars.fetched(chosen), context / "jars")
        for name, level in (("server-logs.xml", "WARN"), ("user-logs.xml", "INFO")):
            (context / name).write_text(jars.LOGS.format(level), encoding="utf-8")
        for file in IMAGE.iterdir():
            shutil.copy(file, context)
        with (context / "Dockerfile").open("a", encoding="utf-8") as dockerfile:
            dockerfile.write(f"ENV NEO4J_MAIN={chosen.main}\n")
        tag = f"graphmem-neo4j:{release}-{os.getpid()}"
        docker("build", "-q", "-t", tag, folder)
    stack.callback(docker, "image", "rm", "-f", tag)
    return tag


def _assemble(root: Path, java_home: Path) -> None:
    """The image's files: Java, a shell with few tools, and the libraries that all of them link."""
    shutil.copytree(java_home, root / "java")
    programs = [*TOOLS, str(java_home / "bin" / "java"), *map(str, java_home.glob("lib/server/libjvm.so"))]
    linked = subprocess.run(["ldd", *programs], capture_output=True, text=True, timeout=60, check=True).stdout
    libraries = {found for found in re.findall(r"(/\S+\.so\S*) \(0x", linked) if not Path(found).resolve().is_relative_to(java_home)}
    for file in sorted({*TOOLS, *libraries}):
        target = root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(file).resolve(), target)
    (root / "etc").mkdir()
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/neo4j:/bin/sh\n", encoding="utf-8")
    (root / "etc" / "nsswitch.conf").write_text("hosts: files dns\n", encoding="utf-8")
    (root / "tmp").mkdir()
