# SPDX-License-Identifier: Apache-2.0
"""
Find the Pythons that can be profiled: Debian's, the version manager's, and those in the PATH;
those of newer Debian releases fetched by tools/deps; and the environments with PyPI programs that
tools/deps made.
"""
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import subprocess

from built import ROOT

PACKAGES = ROOT / "tests" / "programs" / "python-packages.txt"
SUPPORTED = tuple((3, minor) for minor in range(8, 15))
OLD = ((3, 6), (3, 7))
ASK = """
import json, sys, sysconfig
print(json.dumps([list(sys.version_info[:3]), sys.executable, sysconfig.get_paths()["include"],
                  sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY"),
                  bool(sysconfig.get_config_var("Py_ENABLE_SHARED")),
                  sys.implementation.name]))
"""


@dataclasses.dataclass(frozen=True)
class Interpreter:
    path: str
    full: tuple  # such as (3, 11, 2)
    include: str  # folder of Python.h, which may be missing
    libdir: str
    library: str  # libpythonX.Y.so or .a
    shared: bool
    # made by tools/python: path is a script, which runs the interpreter with its own /usr
    fetched: bool = False

    @property
    def version(self):
        return self.full[:2]

    @property
    def debian(self):
        return self.fetched or os.path.realpath(self.path).startswith("/usr/bin/")

    @property
    def inlines(self):
        """
        Return whether calls from Python to Python stay in one native call of the evaluation loop.
        """
        return self.version >= (3, 11)

    def __str__(self):
        return ".".join(map(str, self.full)) + (" of Debian" if self.debian else "")

    @property
    def name(self):
        """Return the name for tests and files."""
        return "_".join(map(str, self.full)) + ("_debian" if self.debian else "")


def _cache():
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")))
    return folder / "skein"


def _managers():
    """Return the folders that have a folder for each version."""
    roots = [os.environ.get("PYENV_ROOT"), os.path.expanduser("~/.pyenv"), "/root/.pyenv"]
    return list(dict.fromkeys(os.path.join(r, "versions") for r in roots if r))


def _candidates():
    yield "/usr/bin/python3"
    for folder in _managers():
        for version in sorted(pathlib.Path(folder).glob("3.*")):
            yield str(version / "bin" / "python3")
    for folder in os.environ.get("PATH", "").split(":"):
        for minor in range(6, 15):
            yield os.path.join(folder, f"python3.{minor}")


def _ask(path):
    if not os.access(path, os.X_OK):
        return None
    run = subprocess.run([path, "-I", "-c", ASK], capture_output=True, text=True, timeout=60,
                         stdin=subprocess.DEVNULL, check=False)
    if run.returncode:
        return None  # a shim of the version manager without a target
    full, executable, include, libdir, library, shared, kind = json.loads(run.stdout)
    if kind != "cpython":
        return None
    return Interpreter(executable, tuple(full), include, libdir, library, shared)


@functools.lru_cache
def interpreters():
    """Return each interpreter once, oldest first."""
    found = {}
    for path in _candidates():
        one = _ask(path)
        if one:
            found.setdefault(os.path.realpath(one.path), one)
    return sorted(found.values(), key=lambda one: (one.full, one.path))


def supported():
    return [one for one in interpreters() if one.version in SUPPORTED]


def old():
    return [one for one in interpreters() if one.version in OLD]


@functools.lru_cache
def fetched():
    """
    Return those of newer Debian releases. They run only as root, and their files are not at the
    paths that they report.
    """
    found = [path.parent / f"python{path.parent.name}"
             for path in sorted(_cache().glob("pythons/*/whole"))]
    asked = [(path, _ask(str(path))) for path in found]
    return [dataclasses.replace(one, path=str(path), fetched=True) for path, one in asked
            if one and one.version in SUPPORTED]


def newest():
    return supported()[-1]


def some():
    """
    Return a few that differ most: the oldest, Debian's, the newest; all of them in long tests.
    """
    every = supported()
    if os.environ.get("SKEIN_LONG") == "1":
        return every
    chosen = [every[0], *(one for one in every if one.debian), every[-1]]
    return list(dict.fromkeys(chosen))


def environments():
    """Return (interpreter, folder) of each complete environment of tools/deps."""
    total = hashlib.sha256(PACKAGES.read_bytes()).hexdigest()[:12]
    found = []
    for folder in sorted((_cache() / "python").glob(f"*-{total}")):
        one = (folder / "whole").exists() and _ask(str(folder / "bin" / "python3"))
        if one and one.version in SUPPORTED:
            found.append((one, folder))
    return found


def numpy_that_renames():
    """Return the folder of the numpy that tools/deps keeps for Python 3.11, or None."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")))
    folder = cache / "skein" / "python" / "numpy-1.24.4"
    return folder if folder.is_dir() else None


def build(source, to, one, *more):
    """Compile C against an interpreter's own headers; return False if it has none."""
    if not (pathlib.Path(one.include) / "Python.h").exists():
        return False
    subprocess.run(["gcc", "-O2", "-g", "-fno-optimize-sibling-calls", "-I", one.include, "-o",
                    str(to), str(source), *more], check=True, timeout=120)
    return True


def link_flags(one):
    """Return the flags to embed an interpreter; None if its library is missing."""
    if not (pathlib.Path(one.libdir) / one.library).exists():
        return None
    name = "python{}.{}".format(*one.version)
    return ["-L", one.libdir, f"-Wl,-rpath,{one.libdir}", f"-l{name}", "-lm", "-ldl", "-lutil",
            "-lpthread"]
