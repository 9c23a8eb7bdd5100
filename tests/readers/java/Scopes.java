// SPDX-License-Identifier: Apache-2.0
/*
 * Print what the JDK's own Serviceability Agent finds at addresses of compiled methods. Its input
 * has lines "ADDRESS TAB OFFSET", of an nmethod and of an address from the begin of its code; its
 * output has the same lines with the methods there, innermost first, as hotspot_names --pcs does.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import sun.jvm.hotspot.HotSpotAgent;
import sun.jvm.hotspot.code.CodeBlob;
import sun.jvm.hotspot.code.NMethod;
import sun.jvm.hotspot.code.ScopeDesc;
import sun.jvm.hotspot.debugger.Address;
import sun.jvm.hotspot.oops.InstanceKlass;
import sun.jvm.hotspot.oops.Method;
import sun.jvm.hotspot.oops.Symbol;
import sun.jvm.hotspot.runtime.VM;

public class Scopes {
	static String frame(ScopeDesc scope) {
		Method m = scope.getMethod();
		InstanceKlass holder = (InstanceKlass) m.getMethodHolder();
		Symbol file = holder.getSourceFileName();
		int bci = scope.getBCI();
		int line = m.hasLineNumberTable() ? m.getLineNumberFromBCI(Math.max(bci, 0)) : 0;

		return holder.getName().asString().replace('/', '.') + "." + m.getName().asString()
			+ m.getSignature().asString() + " " + (file == null ? "" : file.asString())
			+ ":" + Math.max(line, 0) + "@" + bci;
	}

	static String frames(NMethod method, Address pc) {
		StringBuilder text = new StringBuilder();

		for (ScopeDesc s = method.getScopeDescAt(pc); s != null; s = s.sender())
			text.append('\t').append(frame(s));
		return text.toString();
	}

	public static void main(String[] args) throws Exception {
		HotSpotAgent agent = new HotSpotAgent();
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		PrintStream out = new PrintStream(System.out, false, "UTF-8");

		agent.attach(Integer.parseInt(args[0]));
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String[] words = line.split("\t");
			Address at = VM.getVM().getDebugger().parseAddress(words[0]);
			CodeBlob blob = VM.getVM().getCodeCache().findBlobUnsafe(at.addOffsetTo(64));
			NMethod method = (NMethod) blob;

			out.println(line + frames(method, method.codeBegin().addOffsetTo(
				Long.parseLong(words[1]))));
		}
		out.flush();
		agent.detach();
	}
}
