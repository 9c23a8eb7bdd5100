# SPDX-License-Identifier: Apache-2.0
"""
The manifests for Kubernetes are valid by its schemas, old and new, and ask for the privileges that
skein needs and no others; so does the line in docs/containers.md.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from built import ROOT
from needs_table import NeedsTable

MANIFESTS = sorted((ROOT / "packaging" / "kubernetes").glob("*.yaml"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
VALIDATOR = CACHE / "skein/readers/kubernetes-validate-1.37.0"
VERSIONS = ("1.25", "1.29", "1.33", "1.37")


def needed():
    """Return the capabilities that doctor lists, without CAP_."""
    return [name.removeprefix("CAP_") for name in NeedsTable().capabilities]


class Manifests(unittest.TestCase):
    def test_privileges(self):
        self.assertEqual(len(MANIFESTS), 2)
        version, = re.findall(r"^VERSION := (.*)$", (ROOT / "Makefile").read_text(), re.M)
        for manifest in MANIFESTS:
            text = manifest.read_text()
            added, = re.findall(r"add: \[(.*)\]", text)
            self.assertEqual(added.split(", "), needed(), manifest.name)
            self.assertIn("drop: [ALL]", text)
            self.assertIn("readOnlyRootFilesystem: true", text)
            self.assertIn("runAsUser: 0", text)
            self.assertIn(f"image: localhost/skein:{version}", text)

    def test_line(self):
        page = (ROOT / "docs" / "containers.md").read_text()
        self.assertEqual(re.findall(r"--cap-add ([A-Z_]+)", page), needed())

    @unittest.skipUnless(VALIDATOR.exists(), "no kubernetes-validate: tools/deps readers")
    def test_valid(self):
        for version in VERSIONS:
            done = self.validate(version, *MANIFESTS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as wrong:
            wrong.write(MANIFESTS[0].read_text().replace("hostPID:", "hostPid:"))
            wrong.flush()
            done = self.validate(VERSIONS[-1], wrong.name)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hostPid", done.stdout + done.stderr)

    @staticmethod
    def validate(version, *files):
        return subprocess.run([sys.executable, VALIDATOR / "bin" / "kubernetes-validate",
                               "--strict", "-k", version, *files], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(VALIDATOR)}, check=False)


if __name__ == "__main__":
    unittest.main()
