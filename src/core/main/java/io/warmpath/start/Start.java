package io.warmpath.start;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.util.jar.Manifest;

/**
 * Main class of the jars: calls the one that the first jar's manifest names as {@code
 * Warmpath-Main}, or says in one sentence that this Java is too old for it. Compiled for Java 8,
 * everything else for {@link #NEEDED}: an older JVM would refuse the other class with a stack
 * trace.
 */
public final class Start {
    /** Oldest version of Java that runs the program. */
    static final int NEEDED = 25;

    /** Exit code on an older one. */
    static final int TOO_OLD = 1;

    private static final String MAIN = "Warmpath-Main";

    private Start() {}

    /**
     * @throws Throwable what the program's own main method throws
     */
    public static void main(String[] args) throws Throwable {
        String problem =
                problem(
                        System.getProperty("java.specification.version"),
                        System.getProperty("java.home"));
        if (!problem.isEmpty()) {
            System.err.println(problem);
            System.exit(TOO_OLD);
        }
        try {
            Class.forName(mainClass())
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Why a Java of this version cannot run the program, in one sentence; empty: it can. */
    static String problem(String version, String home) {
        String number = version.startsWith("1.") ? version.substring(2) : version;
        return Integer.parseInt(number) >= NEEDED
                ? ""
                : "warmpath: needs Java "
                        + NEEDED
                        + " or newer, and this is Java "
                        + number
                        + " ("
                        + home
                        + "); start it with a newer one, or with ./warmpath, which finds one.";
    }

    private static String mainClass() throws IOException {
        try (InputStream in = ClassLoader.getSystemResourceAsStream("META-INF/MANIFEST.MF")) {
            return new Manifest(in).getMainAttributes().getValue(MAIN);
        }
    }
}
