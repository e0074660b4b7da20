package io.warmpath.start;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.DataInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class StartTest {
    /** Of the class file of Java 1. */
    private static final int FIRST = 44;

    @Test
    void an_older_java_is_told_what_is_needed() {
        assertEquals(
                "warmpath: needs Java 25 or newer, and this is Java 17 (/usr/lib/jvm/17); start it"
                        + " with a newer one, or with ./warmpath, which finds one.",
                Start.problem("17", "/usr/lib/jvm/17"));
        assertEquals(Start.problem("8", "/opt/8"), Start.problem("1.8", "/opt/8"));
        assertEquals("", Start.problem("25", "/usr"));
        assertEquals("", Start.problem("26", "/usr"));
    }

    @Test
    void the_start_runs_on_java_8_and_needs_what_the_rest_is_compiled_for() throws Exception {
        assertEquals(8, compiledFor(Start.class));
        assertEquals(Start.NEEDED, compiledFor(StartTest.class));
    }

    private static int compiledFor(Class<?> type) throws IOException {
        try (DataInputStream in =
                new DataInputStream(type.getResourceAsStream(type.getSimpleName() + ".class"))) {
            in.readInt();
            in.readUnsignedShort();
            return in.readUnsignedShort() - FIRST;
        }
    }
}
