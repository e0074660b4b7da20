package io.warmpath.wiring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The C and Rust libraries of a native executable: taken from the folder {@code lib} beside it, so
 * that nothing is unpacked at its start. Without that folder it unpacks those of JNA and the index;
 * the tokenizer's is not in it.
 */
final class ExecutableLibraries {
    private static final String IN_EXECUTABLE = "org.graalvm.nativeimage.imagecode";

    private ExecutableLibraries() {}

    /** This is a native executable, no JVM. */
    static boolean isExecutable() {
        return System.getProperty(IN_EXECUTABLE) != null;
    }

    /** To be called before any of them is loaded. In a JVM it does nothing. */
    static void use() {
        if (!isExecutable()) {
            return;
        }
        Path folder;
        try {
            folder = Path.of("/proc/self/exe").toRealPath().resolveSibling("lib");
        } catch (IOException e) {
            return; // no such file system here
        }
        use(folder);
    }

    /** What is set already stays. */
    static void use(Path folder) {
        if (Files.isRegularFile(folder.resolve("libjnidispatch.so"))) {
            setIfAbsent("jna.boot.library.path", folder.toString());
            setIfAbsent("jna.nounpack", "true");
        }
        if (Files.isRegularFile(folder.resolve("libkvindex.so"))) {
            setIfAbsent("warmpath.index.native-path", folder.toString());
        }
        Path tokenizers = folder.resolve("libtokenizers.so");
        if (Files.isRegularFile(tokenizers)) {
            setIfAbsent("RUST_LIBRARY_PATH", tokenizers.toString());
        }
    }

    private static void setIfAbsent(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }
}
