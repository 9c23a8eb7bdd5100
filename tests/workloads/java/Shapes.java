// SPDX-License-Identifier: Apache-2.0
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;

/**
 * Java programs whose stacks are known: Shapes SHAPE SECONDS. Methods are called spin, first to
 * third, and so on; the test forbids to inline them.
 */
public class Shapes {
    static volatile long sink;
    static volatile boolean go = true;
    static long end;

    static long spin(long n) {
        long x = n;
        for (int i = 0; i < 5000; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    static long third(long n) { return spin(n) + 1; }

    static long second(long n) { return third(n) + 1; }

    static long first(long n) { return second(n) + 1; }

    static boolean isOver() { return System.nanoTime() >= end; }

    static void chain() {
        long n = 0;
        while (!isOver()) {
            n += first(n);
        }
        sink = n;
    }

    /** Its class initializer runs below Class.forName(), that is below a native method. */
    static class Initialized {
        static {
            chain();
        }
    }

    static void initializer() throws Exception {
        Class.forName("Shapes$Initialized");
    }

    static long heavy(long n) {
        long x = n;
        for (int i = 0; i < 3; i++) {
            x += spin(x);
        }
        return x;
    }

    static long light(long n) { return spin(n); }

    /** heavy() takes three times as long as light(). */
    static void shares() {
        long n = 0;
        while (!isOver()) {
            n += heavy(n) + light(n);
        }
        sink = n;
    }

    static void virtual() throws Exception {
        Runnable body = Shapes::chain;
        Object thread = Thread.class.getMethod("startVirtualThread", Runnable.class)
                .invoke(null, body);
        ((Thread) thread).join();
    }

    static void sleeper() throws Exception {
        while (!isOver()) {
            Thread.sleep(20);
        }
    }

    static void parker() {
        while (!isOver()) {
            LockSupport.parkNanos(20_000_000);
        }
    }

    static final Object LOCK = new Object();

    static void holder() throws Exception {
        while (!isOver()) {
            synchronized (LOCK) {
                Thread.sleep(20);
            }
        }
    }

    static void blocked() {
        while (!isOver()) {
            synchronized (LOCK) {
                sink++;
            }
        }
    }

    static void reader(Socket from) throws Exception {
        while (from.getInputStream().read() >= 0) {
            sink++;
        }
    }

    static void writer(Socket to) throws Exception {
        while (!isOver()) {
            to.getOutputStream().write(1);
            Thread.sleep(20);
        }
        to.close();
    }

    interface Body {
        void run() throws Exception;
    }

    static Thread start(Body body) {
        Thread t = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        });
        t.start();
        return t;
    }

    static void waits() throws Exception {
        ServerSocket server = new ServerSocket(0);
        Socket to = new Socket("localhost", server.getLocalPort());
        Socket from = server.accept();
        Thread[] all = {
            start(Shapes::sleeper), start(Shapes::parker), start(Shapes::holder),
            start(Shapes::blocked), start(() -> reader(from)), start(() -> writer(to)),
        };
        for (Thread t : all) {
            t.join();
        }
    }

    static void parkedForever() {
        while (go) {
            LockSupport.park();
        }
    }

    static void waitsForever() throws Exception {
        Object never = new Object();
        synchronized (never) {
            while (go) {
                never.wait();
            }
        }
    }

    static void readsForever() throws Exception {
        new ServerSocket(0).accept();
    }

    /** No thread but those of the JVM runs again. */
    static void forever() throws Exception {
        start(Shapes::parkedForever);
        start(Shapes::readsForever);
        waitsForever();
    }

    /** The code for indexOf() that C2 puts into methods moves the stack pointer. */
    static int find(String[] texts) {
        int n = 0;
        for (String text : texts) {
            n += text.indexOf("key7");
        }
        return n;
    }

    static void search() {
        String[] texts = new String[64];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = "the quick brown fox jumps over the lazy dog, key " + i;
        }
        int n = 0;
        while (!isOver()) {
            n += find(texts);
        }
        sink = n;
    }

    public static void main(String[] args) throws Exception {
        end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        switch (args[0]) {
            case "chain": chain(); break;
            case "initializer": initializer(); break;
            case "shares": shares(); break;
            case "virtual": virtual(); break;
            case "waits": waits(); break;
            case "forever": forever(); break;
            case "search": search(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
    }
}
