// SPDX-License-Identifier: Apache-2.0
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/* Runs javac without end on the sources below a folder; its classes go to another folder. */
public class Compile {
    public static void main(String[] args) throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.walk(Path.of(args[0]))) {
            files = all.filter(p -> p.toString().endsWith(".java")).collect(Collectors.toList());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> options = List.of("-nowarn", "-proc:none", "-d", args[1]);
        while (true) {
            try (StandardJavaFileManager m = compiler.getStandardFileManager(null, null, null)) {
                StringWriter said = new StringWriter();
                if (!compiler.getTask(said, m, null, options, null,
                                      m.getJavaFileObjectsFromPaths(files)).call())
                    throw new IllegalStateException(said.toString());
            }
        }
    }
}
