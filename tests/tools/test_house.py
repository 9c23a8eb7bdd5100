# SPDX-License-Identifier: Apache-2.0
"""The rules of CONTRIBUTING.md that a program can check: they hold for every file of the product.

Each rule has its exceptions below, each with its reason; a rule's exception that is no longer
needed is an error too, so that the lists only shrink.
"""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS, TAB = 100, 8
FUNCTION_LINES, FILE_LINES = 80, 800
MEMBERS, PARAMETERS, PRIVATE_READERS = 20, 5, 3

# What a struct of more than MEMBERS members is excused by.
LARGE_STRUCTS = {"python_layout": "one offset of CPython's memory per member",
                 "hotspot_layout": "one offset of HotSpot's memory per member"}
# What a function of more than PARAMETERS parameters is excused by.
WIDE_FUNCTIONS = {"authorize": "a callback of SQLite", "stream_connect": "a callback of SQLite"}
# Functions that no other file of the product calls, and why they are public.
ONLY_TESTS = {
    "saved_read": "tests replay what --save-bad-stacks keeps", "saved_agrees": "the same",
    "procfs_parse_stat": "fuzzed", "procfs_parse_status": "fuzzed", "procfs_tick": "fuzzed",
    "opener_pid": "tests kill the opener", "opener_cut_short": "tests see bounds reached",
    "trace_writer_zoom": "tests make small blocks", "zoom_set": "the same",
    "demangler_free": "tests check for leaks",
    "chi_square_quantile": "compared with tables",
    "hotspot_tables_count": "tests print and compare all entries",
    "hotspot_tables_entry": "the same",
    "hotspot_paths_follow": "tests look at the state before each instruction",
    "hotspot_compiled_follow": "the same",
    "http_host_is_local": "tests try many hosts", "http_token_equal": "tests try many tokens",
    "http_no_tls": "libmicrohttpd.o has it under the names of gnutls",
}
# Functions that have one definition per build.
PER_BUILD = {"walk_cache_lookup", "walk_cache_store", "walk_chunk", "walk_now", "walk_read",
             "walk_read_part", "walk_rule", "walk_slot",
             # the above are of the walker: bpf/unwind/kernel.h, capture/finish.c
             "hotspot_cache_entry", "hotspot_find_layout", "hotspot_find_process",
             "hotspot_read", "hotspot_read_part", # bpf/unwind/hotspot_kernel.h, capture/finish.c
             "hotspot_find_code_rows", # the same
             "user_read", # bpf/unwind/current.h, remote.h
             "host_reports_steal", # with and without the kernel's structs
             "leave_signal_frame"} # by architecture
EXCEPTIONS = 10 # of LARGE_STRUCTS and WIDE_FUNCTIONS together

# Violations that are still there: test -> number. They only become fewer.
LEFT = {}


def tracked(*patterns):
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--", *patterns], check=True,
                         capture_output=True, text=True).stdout
    return [ROOT / name for name in out.split("\0") if name]


def product():
    return [path for path in tracked("bpf", "user", "symbolizers") if path.suffix in (".c", ".h")]


def name_of(path):
    return str(path.relative_to(ROOT))


def without_comments(text):
    """The same text with comments, strings and attributes blanked, line by line."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|__attribute__\(\(.*?\)\)',
                  lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


FUNCTION = re.compile(r"^(?![#}\s]|typedef|enum|union|__attribute__|struct \w+ \{)"
                      r"([^;{}=]*?)\b([a-z_]\w*)"
                      r"\(([^;{}]*)\)\n\{\n(.*?)^\}", re.M | re.S)
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\}", re.M | re.S)


class Function:
    def __init__(self, path, found):
        self.path, self.name = path, found[2]
        self.parameters = count_commas(found[3])
        self.lines = found[4].count("\n") + 1

    def where(self):
        return f"{name_of(self.path)}: {self.name}()"


def count_commas(parameters):
    """Parameters of a list: commas outside of parentheses, plus one."""
    if parameters.strip() in ("", "void"):
        return 0
    flat = parameters
    while (shorter := re.sub(r"\([^()]*\)", "", flat)) != flat:
        flat = shorter
    return flat.count(",") + 1


def functions():
    for path in product():
        for found in FUNCTION.finditer(without_comments(path.read_text())):
            yield Function(path, found)


def members_of(body):
    """Declared names of a struct, those of a nested one counted as one."""
    while (flat := re.sub(r"\{[^{}]*\}", "", body)) != body:
        body = flat
    body = re.sub(r"\([^;]*\)|\[[^\]]*\]", "", body)
    return sum(part.count(",") + 1 for part in body.split(";") if part.strip())


def structs():
    for path in product():
        for found in STRUCT.finditer(without_comments(path.read_text())):
            yield path, found[1], found[2]


class House(unittest.TestCase):
    maxDiff = None

    def assert_none(self, found, rule):
        left = LEFT.get(self.id().rsplit(".", 1)[1], 0)
        self.assertLessEqual(len(found), left, rule + ":\n" + "\n".join(found))
        self.assertFalse(len(found) < left, f"LEFT can be lowered from {left} to {len(found)}")

    def test_lines_are_within_100_columns(self):
        paths = tracked("*.c", "*.h", "*.cc", "*.js", "*.css", "*.py")
        wide = [f"{name_of(path)}:{number}"
                for path in paths if "vmlinux" not in path.parts
                for number, line in enumerate(path.read_text().split("\n"), 1)
                if len(line.expandtabs(TAB)) > COLUMNS]
        self.assert_none(wide, f"lines of over {COLUMNS} columns")

    def test_functions_and_files_are_short(self):
        long = [f"{f.where()}: {f.lines} lines" for f in functions() if f.lines > FUNCTION_LINES]
        long += [f"{name_of(path)}: {lines} lines" for path in product()
                 if (lines := path.read_text().count("\n")) > FILE_LINES]
        self.assert_none(long, f"functions over {FUNCTION_LINES} or files over {FILE_LINES} lines")

    def test_structs_have_few_members(self):
        large = {name: f"{name_of(path)}: struct {name}: {members_of(body)} members"
                 for path, name, body in structs() if members_of(body) > MEMBERS}
        self.assert_none([text for name, text in large.items() if name not in LARGE_STRUCTS],
                         f"structs of over {MEMBERS} members")
        self.assertFalse(set(LARGE_STRUCTS) - set(large), "exceptions without need")

    def test_functions_have_few_parameters(self):
        wide = {f.name: f"{f.where()}: {f.parameters} parameters" for f in functions()
                if f.parameters > PARAMETERS}
        self.assert_none([text for name, text in wide.items() if name not in WIDE_FUNCTIONS],
                         f"functions of over {PARAMETERS} parameters")
        self.assertFalse(set(WIDE_FUNCTIONS) - set(wide), "exceptions without need")

    def test_exceptions_are_few(self):
        self.assertLessEqual(len(LARGE_STRUCTS) + len(WIDE_FUNCTIONS), EXCEPTIONS)

    def test_a_function_has_one_definition(self):
        places = {}
        for f in functions():
            places.setdefault(f.name, []).append(name_of(f.path))
        twice = [f"{name}(): {', '.join(found)}" for name, found in sorted(places.items())
                 if len(found) > 1 and name not in PER_BUILD]
        self.assert_none(twice, "names of several functions")

    def test_a_struct_has_one_definition(self):
        places = {}
        for path, name, _ in structs():
            places.setdefault(name, []).append(name_of(path))
        twice = [f"struct {name}: {', '.join(found)}" for name, found in sorted(places.items())
                 if len(found) > 1 and not name.endswith("___arch")]
        self.assert_none(twice, "names of several structs")

    def test_private_headers_have_few_readers(self):
        readers = {}
        for path in product():
            for header in re.findall(r'^#include "([^"]*_private\.h)"', path.read_text(), re.M):
                readers.setdefault(header, []).append(name_of(path))
        many = [f"{header}: {', '.join(found)}" for header, found in sorted(readers.items())
                if len(found) > PRIVATE_READERS]
        self.assert_none(many, f"private headers that over {PRIVATE_READERS} files include")

    def test_rooms_include_what_the_table_allows(self):
        allowed = rooms()
        wrong = []
        for path in product():
            for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
                if not may_include(allowed, name_of(path), header):
                    wrong.append(f"{name_of(path)} includes {header}")
        self.assert_none(wrong, "includes that CONTRIBUTING.md does not allow")

    def test_no_function_is_dead(self):
        build = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
        if not (build / "libskein.a").is_file():
            self.skipTest(f"there is no {build}/libskein.a")
        dead = dead_functions(build)
        self.assert_none([f"{path}: {name}()" for name, path in dead.items()
                          if name not in ONLY_TESTS and not name.startswith("__wrap_")],
                         "functions that no other file of the product uses")
        self.assertFalse(set(ONLY_TESTS) - set(dead), "exceptions without need")

    def test_clang_format_has_nothing_to_change(self):
        if not shutil.which("clang-format-16"):
            self.skipTest("there is no clang-format-16")
        done = subprocess.run([ROOT / "tools/format", "--check"], check=False,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


ROW = re.compile(r"^\| `([\w/.]+)` \|([^|]*)\|", re.M)


def rooms():
    """Room -> what it may include, from the table of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text[text.index("<!-- includes -->"):text.index("<!-- includes: end -->")]
    return {found[1]: re.findall(r"`([\w/.]+)`", found[2]) for found in ROW.finditer(section)}


def may_include(allowed, name, header):
    """Whether a room's row, its own folder included, has the header or a folder above it."""
    room = max((r for r in allowed if name.startswith(r.rstrip("/") + "/") or name == r), key=len,
               default=None)
    own = name.rsplit("/", 1)[0].removeprefix("user/")
    if room is None:
        return False
    return header.rsplit("/", 1)[0] == own or any(
        header == entry or header.startswith(entry.rstrip("/") + "/") for entry in allowed[room])


def dead_functions(build):
    """Global functions of one object that no other object of the product refers to."""
    objects = [build / "main.o", build / "libiberty.o", *sorted(build.glob("user/**/*.o")),
               *sorted(build.glob("symbolizers/**/*.o"))]
    out = subprocess.run(["nm", "-A", *map(str, objects)], check=True, capture_output=True,
                         text=True).stdout
    defined, used = {}, set()
    for line in out.splitlines():
        path, rest = line.split(":", 1)
        fields = rest.split()
        if fields[-2] == "T" and not path.endswith((".so.o", "libiberty.o")):
            defined[fields[-1]] = path
        elif fields[-2] == "U":
            used.add(fields[-1])
    return {name: pathlib.Path(path).relative_to(build)
            for name, path in sorted(defined.items()) if name not in used | {"main"}}


if __name__ == "__main__":
    unittest.main()
