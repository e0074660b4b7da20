package io.warmpath.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.logging.LogRecord;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.Level;
import org.jboss.logmanager.formatters.PatternFormatter;
import org.junit.jupiter.api.Test;

/** An engine's words in the text log. */
class TextLogFormatterTest {
    private static final PatternFormatter FORM = new PatternFormatter("%-5p [%c{1}] %s%e%n");
    private static final String FORGED =
            "m\n2026-11-22 INFO  [Fleet] all is well\r\u001b[2J\u0000\u0085\u2028\u202e";

    private static ExtLogRecord record(String message, Object... parameters) {
        ExtLogRecord record =
                new ExtLogRecord(Level.WARN, message, ExtLogRecord.FormatStyle.PRINTF, "X");
        record.setLoggerName("io.warmpath.Fleet");
        record.setParameters(parameters);
        return record;
    }

    private static String format(ExtLogRecord record) {
        return new TextLogFormatter(FORM).format((LogRecord) record);
    }

    @Test
    void what_somebody_calls_his_model_stays_in_its_line() {
        String line = format(record("%s serves %s", "w1", FORGED));
        assertEquals(
                "WARN  [Fleet] w1 serves m\\n2026-11-22 INFO  [Fleet] all is well\\r\\u001b[2J"
                        + "\\u0000\\u0085\\u2028\\u202e\n",
                line);
        // The control: the form alone lets it through.
        assertTrue(
                FORM.format((LogRecord) record("%s", FORGED))
                        .contains("\n2026-11-22 INFO  [Fleet] all is well"));
    }

    @Test
    void what_was_thrown_says_nothing_of_its_own_either() {
        ExtLogRecord record = record("failed");
        IllegalStateException thrown =
                new IllegalStateException("outer", new IllegalArgumentException(FORGED));
        thrown.addSuppressed(new IllegalArgumentException("beside\n" + FORGED));
        record.setThrown(thrown);
        String text = format(record);
        assertTrue(text.contains("java.lang.IllegalStateException: outer\n\tat "), text);
        assertTrue(text.contains("Caused by: java.lang.IllegalArgumentException: m\\n2026"), text);
        assertTrue(text.contains("IllegalArgumentException: beside\\nm\\n2026"), text);
        assertFalse(text.contains("\n2026"), text);
        assertFalse(text.contains("\u001b"), text);
    }

    @Test
    void all_else_is_as_it_was() {
        ExtLogRecord record = record("%d workers, \u00e9\ud83d\ude00 \u4e2d", 3);
        record.setThrown(new IllegalStateException("why"));
        assertEquals(FORM.format((LogRecord) record), format(record));
    }
}
