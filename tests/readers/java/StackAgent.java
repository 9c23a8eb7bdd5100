// SPDX-License-Identifier: Apache-2.0
/*
 * Print the stacks of threads of a stopped JVM, as the JDK's own Serviceability Agent walks them.
 * It reads the JVM's memory without a debugger's attachment, since the process is stopped already;
 * so one agent serves many stops. Its arguments are the pid and a file with the symbols of libjvm,
 * "ADDRESS NAME" per line. A line of its input is "TID" and the thread's registers, in hex and in
 * the order of struct user_regs_struct; its output for that is
 *
 *   at KIND ADDRESS NAME          the code at pc: method, interpreter, stub, native, or the linker
 *                                 of method handles, which jumps to a method
 *   KIND SLOT ADDRESS SCOPE...    each frame, innermost first, separated by tabs
 *   end WHY                       "ok": the thread's first Java frame was reached
 *
 * SLOT is where the frame's return address is (null: not known), ADDRESS is that of the nmethod, the
 * Method or the stub. SCOPE, as in Scopes.java, is of each inlined method, innermost first, and the
 * method itself.
 */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import sun.jvm.hotspot.HotSpotTypeDataBase;
import sun.jvm.hotspot.LinuxVtblAccess;
import sun.jvm.hotspot.code.CodeBlob;
import sun.jvm.hotspot.code.NMethod;
import sun.jvm.hotspot.code.ScopeDesc;
import sun.jvm.hotspot.debugger.Address;
import sun.jvm.hotspot.debugger.MachineDescriptionAMD64;
import sun.jvm.hotspot.debugger.ReadResult;
import sun.jvm.hotspot.debugger.linux.LinuxDebuggerLocal;
import sun.jvm.hotspot.interpreter.InterpreterCodelet;
import sun.jvm.hotspot.oops.InstanceKlass;
import sun.jvm.hotspot.oops.Method;
import sun.jvm.hotspot.oops.Symbol;
import sun.jvm.hotspot.runtime.Frame;
import sun.jvm.hotspot.runtime.JavaThread;
import sun.jvm.hotspot.runtime.RegisterMap;
import sun.jvm.hotspot.runtime.Threads;
import sun.jvm.hotspot.runtime.VM;
import sun.jvm.hotspot.runtime.x86.X86Frame;
import sun.jvm.hotspot.types.CIntegerField;

public class StackAgent {
	/* Indexes in struct user_regs_struct, of the agent's registers in its own order. */
	static final int[] REGISTERS = {0, 1, 2, 3, 6, 7, 8, 9, 14, 13, 4, 5, 12, 11, 10, -1, -1, 16,
		17, 18, 19, 20, -1, -1, -1, -1, -1, -1};
	static final int FRAMES_MAX = 4096;
	/* Codelets in which an interpreted method has its whole frame, from their begin to their end. */
	static final String WHOLE = "(?!.*return|athrow|_should)[a-z0-9_]+";

	/* Reads a process that is stopped already. */
	static class Stopped extends LinuxDebuggerLocal {
		final RandomAccessFile memory;
		final Map<String, Long> symbols = new HashMap<>();
		long[] registers = new long[REGISTERS.length];

		Stopped(String pid, String names) throws IOException {
			super(new MachineDescriptionAMD64(), true);
			memory = new RandomAccessFile("/proc/" + pid + "/mem", "r");
			for (String line : Files.readAllLines(Path.of(names))) {
				String[] words = line.split(" ");

				symbols.put(words[1], Long.parseUnsignedLong(words[0], 16));
			}
		}

		void forget() {
			clearCache();
		}

		@Override
		public Address lookup(String library, String symbol) {
			Long at = symbols.get(symbol);

			/* a table of virtual functions begins with two other words */
			return at == null ? null : newAddress(at + (symbol.startsWith("_ZTV") ? 16 : 0));
		}

		@Override
		public ReadResult readBytesFromProcess(long address, long count) {
			byte[] bytes = new byte[(int) count];

			try {
				memory.seek(address);
				memory.readFully(bytes);
			} catch (IOException e) {
				return new ReadResult(address);
			}
			return new ReadResult(bytes);
		}

		@Override
		public long[] getThreadIntegerRegisterSet(int tid) {
			return registers;
		}

		@Override
		public int getHostPID(int id) {
			return -1;
		}
	}

	static Stopped debugger;
	static CIntegerField level, threadId;
	static StringBuilder text;
	static final Map<Long, JavaThread> threads = new HashMap<>();

	static void begin(String pid, String symbols) throws Exception {
		String[] libraries = {"libjvm.so"};
		HotSpotTypeDataBase types;

		debugger = new Stopped(pid, symbols);
		types = new HotSpotTypeDataBase(debugger.getMachineDescription(),
			new LinuxVtblAccess(debugger, libraries), debugger, libraries);
		debugger.configureJavaPrimitiveTypeSizes(types.getJBooleanType().getSize(),
			types.getJByteType().getSize(), types.getJCharType().getSize(),
			types.getJDoubleType().getSize(), types.getJFloatType().getSize(),
			types.getJIntType().getSize(), types.getJLongType().getSize(),
			types.getJShortType().getSize());
		VM.initialize(types, debugger);
		level = types.lookupType("nmethod").getCIntegerField("_comp_level");
		threadId = types.lookupType("OSThread").getCIntegerField("_thread_id");
	}

	static JavaThread find(long tid) {
		if (!threads.containsKey(tid)) {
			var osThread = VM.getVM().getTypeDataBase().lookupType("JavaThread")
				.getAddressField("_osthread");
			Threads all = new Threads();

			for (int i = 0; i < all.getNumberOfThreads(); i++) {
				JavaThread t = all.getJavaThreadAt(i);
				Address os = osThread.getValue(t.getAddress());

				threads.put(os == null ? -1 : threadId.getValue(os), t);
			}
		}
		return threads.get(tid);
	}

	static String scope(Method m, int bci) {
		InstanceKlass holder = (InstanceKlass) m.getMethodHolder();
		Symbol file = holder.getSourceFileName();
		int line = m.hasLineNumberTable() ? m.getLineNumberFromBCI(Math.max(bci, 0)) : 0;

		return holder.getName().asString().replace('/', '.') + "." + m.getName().asString()
			+ m.getSignature().asString() + " " + (file == null ? "" : file.asString())
			+ ":" + Math.max(line, 0) + "@" + bci;
	}

	static void compiled(X86Frame f, NMethod n, boolean exact) {
		Address pc = f.getPC();
		String kind = n.isNativeMethod() ? "wrapper"
			: level.getValue(n.getAddress()) == 4 ? "C2" : "C1";
		ScopeDesc s;

		if (f.isDeoptimized())
			kind += ",deoptimized";
		/* the agent knows only the other handler */
		if (pc.equals(n.deoptMhHandlerBegin())) {
			pc = f.getUnextendedSP().getAddressAt(n.origPCOffset());
			kind += ",deoptimized-mh";
		}
		put(kind, f.getUnextendedSP().addOffsetTo(n.getFrameSize() - 8), n.getAddress());
		s = n.isNativeMethod() ? null
			: exact ? n.getScopeDescNearDbg(pc) : n.getScopeDescAt(pc);
		if (s == null)
			text.append('\t').append(scope(n.getMethod(), 0));
		for (; s != null; s = s.sender())
			text.append('\t').append(scope(s.getMethod(), s.getBCI()));
	}

	static void put(String kind, Address slot, Address code) {
		text.append(kind).append('\t').append(slot).append('\t').append(code);
	}

	static void put(X86Frame f, boolean exact) {
		CodeBlob blob = VM.getVM().getCodeCache().findBlob(f.getPC());

		if (f.isEntryFrame()) {
			put("entry", null, null);
		} else if (f.isInterpretedFrame()) {
			Method m = f.getInterpreterFrameMethod();

			put("interpreted", f.getFP().addOffsetTo(8), m.getAddress());
			text.append('\t').append(scope(m, f.getInterpreterFrameBCI()));
		} else if (blob == null) {
			throw new IllegalStateException("no code");
		} else if (blob instanceof NMethod) {
			compiled(f, (NMethod) blob, exact);
		} else {
			put("stub", null, blob.getAddress());
			text.append('\t').append(blob.getName());
		}
		text.append('\n');
	}

	static boolean isContinuation(Frame f) {
		CodeBlob blob = VM.getVM().getCodeCache().findBlob(f.getPC());

		return blob != null && blob.getName().contains("ontinuation");
	}

	/* Return "ok", or why the frames are not those of a whole stack. */
	static String walk(JavaThread t, Frame f, boolean exact) {
		RegisterMap map = t.newRegisterMap(false);

		for (int i = 0; i < FRAMES_MAX; i++) {
			X86Frame caller;

			put((X86Frame) f, exact);
			exact = false;
			if (f.isEntryFrame() && f.entryFrameIsFirst())
				return "ok";
			caller = (X86Frame) f.sender(map);
			/* the frame of Continuation.enterSpecial() begins where a virtual thread's end */
			if (caller.getSP().lessThan(f.getSP())
			    || caller.getSP().equals(f.getSP()) && !isContinuation(f))
				return "a caller is not above";
			f = caller;
		}
		return "too deep";
	}

	/* Print what code is at pc, and return why a walk from there cannot be exact; or null. */
	static String place(Address pc) {
		CodeBlob blob = VM.getVM().isJavaPCDbg(pc) && !VM.getVM().getInterpreter().contains(pc)
			? VM.getVM().getCodeCache().findBlob(pc) : null;

		if (!VM.getVM().isJavaPCDbg(pc)) {
			text.append("at\tnative\tnull\n");
			return null;
		}
		if (VM.getVM().getInterpreter().contains(pc)) {
			InterpreterCodelet c = VM.getVM().getInterpreter().getCodeletContaining(pc);
			String name = c == null ? "no codelet" : c.getDescription();

			text.append("at\tinterpreter\tnull\t").append(name).append('\n');
			return name.matches(WHOLE) ? null : "in " + name;
		}
		if (blob instanceof NMethod) {
			text.append(blob.getFrameSize() < 16 ? "at\tlinker\t" : "at\tmethod\t")
				.append(blob.getAddress()).append('\n');
			return pc.minus(blob.codeBegin()) < blob.getFrameCompleteOffset() ? "in a prologue"
				: null;
		}
		text.append("at\tstub\t").append(blob == null ? null : blob.getAddress()).append('\t')
			.append(blob == null ? "" : blob.getName()).append('\n');
		return "in a stub";
	}

	static String answer(String[] words) {
		JavaThread t = find(Long.parseLong(words[0]));
		Address pc, sp;
		String doubt;
		Frame first;

		for (int i = 0; i < REGISTERS.length; i++)
			debugger.registers[i] = REGISTERS[i] < 0 ? 0
				: Long.parseUnsignedLong(words[1 + REGISTERS[i]], 16);
		pc = debugger.newAddress(debugger.registers[17]);
		sp = debugger.newAddress(debugger.registers[20]);
		doubt = place(pc);
		if (doubt != null)
			return doubt;
		if (VM.getVM().isJavaPCDbg(pc) && !VM.getVM().getInterpreter().contains(pc))
			return walk(t, new X86Frame(sp, null, pc), true);
		first = t.getCurrentFrameGuess();
		return first == null ? "no Java frame" : walk(t, first, VM.getVM().isJavaPCDbg(pc));
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		PrintStream out = new PrintStream(System.out, false, "UTF-8");

		begin(args[0], args[1]);
		out.println("ready");
		out.flush();
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String end;

			debugger.forget();
			text = new StringBuilder();
			try {
				end = answer(line.split(" "));
			} catch (RuntimeException e) {
				end = e.toString().replace('\n', ' ');
				text.append('\n');
			}
			out.print(text + "end\t" + end + "\n");
			out.flush();
		}
	}
}
