// SPDX-License-Identifier: Apache-2.0
package jdk.test.whitebox;

import java.lang.reflect.Executable;
import java.util.concurrent.locks.LockSupport;

/** The part of HotSpot's own test interface (-XX:+WhiteBoxAPI) that compiles and deoptimizes. */
public class WhiteBox {
    private static native void registerNatives();
    private native int deoptimizeMethod0(Executable method, boolean onStack);
    private native boolean isMethodCompiled0(Executable method, boolean onStack);
    private native boolean enqueueMethodForCompilation0(Executable method, int level, int bci);

    static {
        registerNatives();
    }

    public void deoptimize(Executable method) {
        deoptimizeMethod0(method, false);
    }

    /** Compile a method, by C1 (1) or C2 (4), and wait until it is. */
    public void compile(Executable method, int level) {
        while (!isMethodCompiled0(method, false)) {
            enqueueMethodForCompilation0(method, level, -1);
            LockSupport.parkNanos(500_000);
        }
    }
}
