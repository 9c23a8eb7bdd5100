# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
The static program runs where there is nothing else: no library, no loader, no file but itself. The
image that contains it is the same, byte by byte, whenever and wherever it is made.
"""
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))
from traces import make_scene

BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
STATIC = BUILD / "static" / "skein"
SIZE = 10_000_000 # bytes
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")


@unittest.skipUnless(STATIC.exists(), "no static program: make static")
class Static(unittest.TestCase):
    def setUp(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="image-"))
        self.addCleanup(shutil.rmtree, self.tmp)

    def test_one_file(self):
        """No library, no loader, small; its functions have names."""
        headers = subprocess.run(["readelf", "-lWsd", STATIC], capture_output=True, text=True,
                                 check=True).stdout
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("(NEEDED)", headers)
        self.assertIn("record_main", headers)
        self.assertLessEqual(STATIC.stat().st_size, SIZE)

    def test_without_the_folder(self):
        """The folder in which it was built stands nowhere in it, so any folder gives the same."""
        self.assertNotIn(os.fsencode(ROOT), STATIC.read_bytes())

    @unittest.skipUnless(os.geteuid() == 0, "chroot needs root")
    def test_alone(self):
        """In a root with nothing but the program and a trace, all formats are as anywhere."""
        tree = self.tmp / "root"
        tree.mkdir()
        shutil.copy2(STATIC, tree / "skein")
        make_scene(tree / "scene.skein")
        for args in (["report"], ["export", "-f", "html"], ["export", "-f", "pprof"],
                     ["query", "SELECT count(*) FROM sample"]):
            command = [args[0], "/scene.skein", *args[1:]]
            alone = subprocess.run([CHROOT, tree, "/skein", *command], capture_output=True,
                                   check=False, env={})
            self.assertEqual(alone.returncode, 0, alone.stderr)
            here = subprocess.run([os.environ.get("SKEIN", BUILD / "skein"), args[0],
                                   tree / "scene.skein", *args[1:]], capture_output=True,
                                  check=True, env={})
            if args != ["export", "-f", "html"]: # which names the file
                self.assertEqual(alone.stdout, here.stdout, args)
        for args in (["--help"], ["help", "--man", "record"], ["version", "-v"]):
            done = subprocess.run([CHROOT, tree, "/skein", *args], capture_output=True, check=True)
            self.assertGreater(len(done.stdout), 100)

    def image(self, name, **environment):
        out = self.tmp / name
        subprocess.run([ROOT / "tools" / "image", STATIC, "9.8.7", out], check=True,
                       env={**os.environ, **environment})
        return out.read_bytes()

    def test_image(self):
        """Made twice, it is the same; its hashes are right; it is what engines need to know."""
        image = self.image("one.tar", SOURCE_DATE_EPOCH="1700000000")
        again = {"SOURCE_DATE_EPOCH": "1700000000", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
        self.assertEqual(image, self.image("two.tar", **again))
        tar = tarfile.open(fileobj=io.BytesIO(image))
        blobs = {}
        for entry in tar:
            self.assertEqual((entry.uid, entry.gid, entry.mtime), (0, 0, 1700000000))
            if entry.name.startswith("blobs/sha256/"):
                data = tar.extractfile(entry).read()
                self.assertEqual(entry.name.split("/")[-1], hashlib.sha256(data).hexdigest())
                blobs["sha256:" + entry.name.split("/")[-1]] = data
        index = json.load(tar.extractfile("index.json"))
        manifest = json.loads(blobs[index["manifests"][0]["digest"]])
        config = json.loads(blobs[manifest["config"]["digest"]])
        layer = gzip.decompress(blobs[manifest["layers"][0]["digest"]])
        self.assertEqual(config["rootfs"]["diff_ids"],
                         ["sha256:" + hashlib.sha256(layer).hexdigest()])
        self.assertEqual(config["config"]["User"], "0:0")
        self.assertEqual(config["config"]["Labels"]["org.opencontainers.image.version"], "9.8.7")
        files = tarfile.open(fileobj=io.BytesIO(layer))
        self.assertEqual(files.extractfile("usr/bin/skein").read(), STATIC.read_bytes())
        legacy, = json.load(tar.extractfile("manifest.json"))
        self.assertEqual("sha256:" + legacy["Config"].split("/")[-1], manifest["config"]["digest"])

    def test_profile(self):
        """The two calls are allowed to all, and nothing else changes."""
        default = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [
            {"names": ["read", "bpf"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["X"]}},
            {"names": ["perf_event_open"], "action": "SCMP_ACT_ERRNO"}]}
        source = self.tmp / "default.json"
        source.write_text(json.dumps(default))
        tool = ROOT / "tools" / "seccomp-profile"
        made = json.loads(subprocess.run([tool, source], capture_output=True, check=True).stdout)
        self.assertEqual(made["syscalls"][0], {**default["syscalls"][0], "names": ["read"]})
        self.assertEqual([(rule["names"], rule["action"]) for rule in made["syscalls"][1:]],
                         [(["bpf", "perf_event_open"], "SCMP_ACT_ALLOW")])
        source.write_text("{")
        done = subprocess.run([tool, source], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("default.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
