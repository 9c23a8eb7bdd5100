// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The C library's qsort(), which calls a comparator in Java. JDK 22 or newer. */
public class Upcall {
    static final int COUNT = 200;
    static MethodHandle qsort;
    static MemorySegment comparator, numbers;
    static long calls;

    static int compare(MemorySegment a, MemorySegment b) {
        for (int i = 0; i < 3; i++) {
            calls += Truth.spin(i) & 1;
        }
        return Integer.compare(a.get(ValueLayout.JAVA_INT, 0), b.get(ValueLayout.JAVA_INT, 0));
    }

    static void prepare() throws Throwable {
        Linker linker = Linker.nativeLinker();
        var pointer = ValueLayout.ADDRESS.withTargetLayout(ValueLayout.JAVA_INT);

        qsort = linker.downcallHandle(linker.defaultLookup().find("qsort").get(),
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        comparator = linker.upcallStub(
                MethodHandles.lookup().findStatic(Upcall.class, "compare", MethodType.methodType(
                        int.class, MemorySegment.class, MemorySegment.class)),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, pointer, pointer), Arena.global());
        numbers = Arena.global().allocate(ValueLayout.JAVA_INT, COUNT);
    }

    static void run() throws Throwable {
        if (qsort == null) {
            prepare();
        }
        for (int i = 0; i < COUNT; i++) {
            numbers.setAtIndex(ValueLayout.JAVA_INT, i, i * 7919 % COUNT);
        }
        qsort.invokeExact(numbers, (long) COUNT, 4L, comparator);
    }
}
