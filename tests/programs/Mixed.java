// SPDX-License-Identifier: Apache-2.0
import java.util.*;
import java.util.function.*;
import java.util.zip.*;
import java.security.*;
import javax.crypto.*;
import javax.crypto.spec.*;
/* Work of many kinds, in threads named mix0, mix1 and so on, without exceptions. */
public class Mixed {
    static volatile Object sink; static volatile long total;
    interface Shape { double area(double x); }
    static class A implements Shape { public double area(double x) { return Math.sin(x) * Math.pow(x, 1.1); } }
    static class B implements Shape { public double area(double x) { return Math.exp(x % 3) + Math.log(x + 1); } }
    static class C implements Shape { public double area(double x) { return Math.cos(x) + Math.tan(x) + Math.log10(x + 1); } }
    static class D implements Shape { public synchronized double area(double x) { return x + Math.sqrt(x) + Math.abs(x); } }
    static final Shape[] shapes = {new A(), new B(), new C(), new D()};
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static double shapes(int n) { double s = 0; for (int i = 0; i < n; i++) s += shapes[i & 3].area(i); return s; }
    static int strings(int n) {
        int t = 0; StringBuilder b = new StringBuilder();
        for (int i = 0; i < n; i++) {
            b.setLength(0); b.append("key").append(i).append('/').append(i * 31L).append("é");
            String s = b.toString();
            t += s.indexOf("31") + s.indexOf('/') + s.hashCode() + s.compareTo("key7") + (s.equals("key77/8é") ? 1 : 0) + s.toUpperCase().length() + s.substring(2).length();
            byte[] u = s.getBytes(java.nio.charset.StandardCharsets.UTF_8); t += new String(u, java.nio.charset.StandardCharsets.ISO_8859_1).length();
            t += Base64.getEncoder().encodeToString(u).length();
        }
        return t;
    }
    static long maps(int n) {
        Map<Object, Object> m = new HashMap<>(); TreeMap<Integer, String> tm = new TreeMap<>();
        for (int i = 0; i < n; i++) { m.put(i, "v" + i); tm.put(i * 7919 % n, "x"); }
        long t = 0; for (Map.Entry<Object, Object> e : m.entrySet()) t += e.getKey().hashCode() + e.getValue().hashCode();
        List<Integer> l = new ArrayList<>(); for (int i = 0; i < n; i++) l.add(i * 7919 % n);
        Collections.sort(l); return t + l.stream().mapToInt(x -> x * 2).filter(x -> x % 3 == 0).sum() + tm.size();
    }
    static long arrays(int n) { int[] a = new int[n]; long[] b = new long[n]; byte[] c = new byte[n]; Object[] d = new Object[n];
        Arrays.fill(a, 3); Arrays.fill(c, (byte) 5); System.arraycopy(a, 1, a, 0, n - 1); System.arraycopy(c, 3, c, 7, n - 20); Object[] e = d.clone(); System.arraycopy(d, 0, e, 1, n - 1);
        String[] f = new String[n]; Arrays.fill(f, "q"); System.arraycopy(f, 0, e, 0, n); System.arraycopy(e, 0, f, 0, n); sink = e; 
        return Arrays.hashCode(a) + Arrays.hashCode(c) + (Arrays.equals(a, a.clone()) ? 1 : 0) + Arrays.mismatch(b, b.clone()); }
    static long crypto() throws Exception {
        byte[] data = new byte[10000]; long t = 0;
        for (String h : new String[] {"MD5", "SHA-1", "SHA-256", "SHA-512", "SHA3-256"}) t += MessageDigest.getInstance(h).digest(data)[0];
        Cipher c = Cipher.getInstance("AES/CBC/PKCS5Padding"); c.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"), new IvParameterSpec(new byte[16])); t += c.doFinal(data).length;
        c = Cipher.getInstance("AES/GCM/NoPadding"); byte[] iv = new byte[12]; new Random().nextBytes(iv); c.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"), new GCMParameterSpec(128, iv)); t += c.doFinal(data).length;
        c = Cipher.getInstance("AES/CTR/NoPadding"); c.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"), new IvParameterSpec(new byte[16])); t += c.doFinal(data).length;
        CRC32 k = new CRC32(); k.update(data); t += k.getValue(); CRC32C k2 = new CRC32C(); k2.update(data, 0, data.length); t += k2.getValue(); Adler32 ad = new Adler32(); ad.update(data); t += ad.getValue();
        java.math.BigInteger bi = new java.math.BigInteger(512, new Random(3)); t += bi.multiply(bi).modPow(bi, bi.setBit(0)).bitLength();
        return t;
    }
    static synchronized int locked(int x) { return x + 1; }
    static int locks(int n) { int t = 0; Object o = new Object(); for (int i = 0; i < n; i++) { t += locked(i); synchronized (o) { t++; } } return t; }
    static long dispatch(int n) throws Throwable { 
        var mh = java.lang.invoke.MethodHandles.lookup().findStatic(Mixed.class, "fib", java.lang.invoke.MethodType.methodType(int.class, int.class)); long t = 0;
        Function<Integer,Integer> f = x -> x + 1; Supplier<String> s = String::new;
        for (int i = 0; i < n; i++) { t += (int) mh.invokeExact(3); t += f.apply(i) + s.get().length(); t += System.nanoTime() & 1; t += Thread.currentThread().getName().length(); t += (int) (long) Mixed.class.getMethods().length; }
        return t; }
    static int big(int a,int b,int c,int d,int e,int f,int g,int h,long i,double j,float k,Object l) { return a+b+c+d+e+f+g+h+(int)i+(int)j+(int)k+(l==null?0:1); }
    static int calls(int n) { int t=0; for (int i=0;i<n;i++) t+=big(i,1,2,3,4,5,6,7,8L,9.0,1f,"x")+ (int)(float)i/3 + (int)(i*1e30); return t; }
    static long gc(int n) { Object[] keep = new Object[n]; for (int i = 0; i < n * 20; i++) { Object[] o = new Object[8]; o[i & 7] = keep[(i * 31) % n]; keep[i % n] = (i % 64 == 0) ? null : o; if (o[0] instanceof Object[]) ((Object[]) o[0])[0] = null; } sink = keep; return keep.length; }
    static void round(int k) throws Throwable {
        total += fib(15); total += (long) shapes(2000); total += strings(200); total += maps(300); total += arrays(2000); total += crypto(); total += locks(500); total += dispatch(20); total += calls(500); total += gc(1000);
    }
    public static void main(String[] a) throws Throwable {
        int threads = a.length > 0 ? Integer.parseInt(a[0]) : 2;
        for (int i = 0; i < threads; i++) { final int n = i; new Thread(() -> { try { while (true) round(n); } catch (Throwable t) { t.printStackTrace(); System.exit(1); } }, "mix" + i).start(); }
    }
}
