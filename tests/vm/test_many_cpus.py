# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
On 32 CPUs, in a virtual machine.
"""
import sys, os, pathlib, unittest
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "live"), str(TESTS / "lib")]
import live # noqa: E402
import scheduler # noqa: E402
import vm # noqa: E402
CPUS = int(os.environ.get("N", "32"))
JOB = """
skein record -a -F 99 -e all -o /out/all.skein -- sh -c 'relay 8 1 >/out/truth' 2>/out/said
status=$?
cat /out/said
cat /proc/uptime
exit $status
"""
k = vm.Kernel("bookworm-security")
r = vm.Run(k, JOB, {"/bin/skein": live.SKEIN, "/bin/relay": live.workload("relay")}, cpus=CPUS)
print(r, r.printed)
os.system(f"rm -rf /tmp/vm32/out; cp -r {r.out} /tmp/vm32/out")
