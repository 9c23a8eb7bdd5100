# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test the flame graph of a long range, which comes in parts, in a browser, fed by a stub."""
import threading
import time
import unittest

from test_timeline import Timelines


class Parts(Timelines):
    """The flame graph of a long range comes in parts."""

    CHOSEN = "document.getElementById('chosen').textContent"

    def parts(self, *shares, ms=300):
        return [{"share": share, "samples": int(1000 * share), "ms": ms * (i + 1)}
                for i, share in enumerate(shares)]

    def test_grows(self):
        gate = self.stub.gates["profile"] = threading.Semaphore(1)
        self.stub.parts = self.parts(0.43, 0.999, 1)
        self.view("range=1000000000-2000000000", wait=False)
        for share in (43, 99):
            self.browser.wait(f"{self.CHOSEN}.startsWith('The first {share} % of 1.00 s')")
            self.assertTrue(self.shown("#graph"))
            self.assertEqual(self.ask("document.getElementById('chosen').ariaBusy"), "true")
            gate.release()
        self.quiet()
        self.assertTrue(self.browser.text("#chosen").startswith("1.00 s to 2.00 s"))
        asked = self.stub.of("profile")
        self.assertEqual(asked, [asked[0]] * 3)
        self.browser.wait("!document.getElementById('states').hidden")
        self.assertEqual(len(self.stub.of("report")), 1)
        self.fine()

    def test_the_zoom_stays(self):
        gate = self.stub.gates["profile"] = threading.Semaphore(1)
        self.stub.parts = self.parts(0.2, 1)
        self.view("range=1000000000-2000000000", wait=False)
        self.browser.wait(f"{self.CHOSEN}.startsWith('The first 20 %')")
        self.click("main")
        self.assertEqual(self.zoomed(), "main")
        gate.release()
        self.quiet()
        self.assertEqual(self.zoomed(), "main")
        self.fine()

    def test_long_ones_stop(self):
        """After the server's time there is a part, which says so, and a button that goes on."""
        self.stub.parts = self.parts(0.1, 0.2, 0.3, 0.4, 0.5, 1, ms=1100)
        self.view("")
        self.assertEqual(len(self.stub.of("profile")), 2)
        self.assertIn("The first 20 % of the whole recording", self.browser.text("#chosen"))
        self.picture("timeline-part")
        self.browser.click("#more-samples")
        self.quiet()
        self.assertEqual(len(self.stub.of("profile")), 4)
        self.assertIn("40 %", self.browser.text("#chosen"))
        self.browser.click("#more-samples")
        self.quiet()
        self.assertFalse(self.shown("#chosen"))
        self.assertEqual(len(self.stub.of("profile")), 6)
        self.fine()

    def test_a_new_selection_ends_the_old_one(self):
        gate = self.stub.gates["profile"] = threading.Semaphore(2)
        self.stub.parts = self.parts(0.1, 0.2, 1, ms=1)
        self.view("range=1000000000-2000000000", wait=False)
        self.browser.wait(f"{self.CHOSEN}.startsWith('The first 20 %')")
        end = time.monotonic() + 60
        # until the page has asked for the third part, which is not answered yet
        while len(self.stub.of("profile")) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        self.ask("skeinPage.timeline.select({ from: 3e9, to: 4e9 }, '')")
        gate.release(10)
        self.browser.wait(f"{self.CHOSEN}.startsWith('3.00 s')")
        self.quiet()
        asked = [query["from"] for query in self.stub.of("profile")]
        self.assertEqual(asked, ["1000000000"] * 3 + ["3000000000"])
        self.fine()

    def test_hostile_parts(self):
        for part in ({"share": "<b>", "ms": "x"}, {"share": -5, "ms": 3000}, {}, None, 7):
            self.stub.parts = [part]
            self.view("range=1000000000-2000000000")
            self.assertEqual(self.ask("document.images.length"), 0)
        self.fine()


if __name__ == "__main__":
    unittest.main()
