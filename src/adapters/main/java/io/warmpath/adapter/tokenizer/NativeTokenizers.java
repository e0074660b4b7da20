package io.warmpath.adapter.tokenizer;

import ai.djl.huggingface.tokenizers.jni.LibUtils;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The native tokenizers library, loaded without network. The library lies in the jar and is
 * unpacked once into the user's cache directory (15 MB). Its loader takes its settings from system
 * properties only; they are set here, before its first use, unless the operator set them: {@code
 * ai.djl.offline} (else a machine with a GPU would download another build) and {@code
 * DJL_CACHE_DIR}.
 */
final class NativeTokenizers {
    private static final String CACHE_DIR = "DJL_CACHE_DIR";
    private static final String OFFLINE = "ai.djl.offline";

    private NativeTokenizers() {}

    private static final class Holder {
        static final TokenizersLibrary LIBRARY = load();
    }

    /**
     * The loaded library. Throws what the first load threw, each time, as an Error or exception.
     */
    static TokenizersLibrary library() {
        return Holder.LIBRARY;
    }

    private static TokenizersLibrary load() {
        if (System.getProperty(OFFLINE) == null) {
            System.setProperty(OFFLINE, "true");
        }
        if (System.getenv(CACHE_DIR) == null && System.getProperty(CACHE_DIR) == null) {
            System.setProperty(CACHE_DIR, cacheDir().toString());
        }
        LibUtils.checkStatus(); // loads, and throws what went wrong
        return TokenizersLibrary.LIB;
    }

    /**
     * Never a fixed name in a directory that others can write to: the library in it is executed.
     */
    private static Path cacheDir() {
        String xdg = System.getenv("XDG_CACHE_HOME");
        Path home =
                xdg == null || xdg.isBlank()
                        ? Path.of(System.getProperty("user.home", ""), ".cache")
                        : Path.of(xdg);
        try {
            return Files.createDirectories(home.resolve("warmpath").resolve("tokenizers"));
        } catch (IOException readOnlyHome) {
            return temporaryDir(readOnlyHome);
        }
    }

    private static Path temporaryDir(IOException readOnlyHome) {
        try {
            return Files.createTempDirectory("warmpath-tokenizers"); // readable by its owner only
        } catch (IOException e) {
            e.addSuppressed(readOnlyHome);
            throw new IllegalStateException(
                    "no directory to unpack the tokenizers library into: neither the home directory"
                            + " nor "
                            + System.getProperty("java.io.tmpdir")
                            + " can be written; set DJL_CACHE_DIR to one that can",
                    e);
        }
    }
}
