package io.warmpath.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.Level;
import org.junit.jupiter.api.Test;

class JsonLogFormatterTest {
    private static ExtLogRecord record(String message) {
        ExtLogRecord record =
                new ExtLogRecord(
                        Level.WARN, message, ExtLogRecord.FormatStyle.NO_FORMAT, "io.warmpath.X");
        record.setLoggerName("io.warmpath.X");
        record.setThreadName("loop-1");
        record.setInstant(Instant.parse("2026-11-22T03:04:05.678901Z"));
        return record;
    }

    private static JsonNode read(ExtLogRecord record) throws Exception {
        String line = new JsonLogFormatter().format(record);
        assertTrue(line.endsWith("\n"), line);
        assertFalse(line.substring(0, line.length() - 1).contains("\n"), "one line: " + line);
        return new ObjectMapper().readTree(line);
    }

    @Test
    void a_line_is_one_object_whatever_it_says() throws Exception {
        JsonNode json = read(record("two\nlines, \"quoted\" %s \u0000 é"));
        assertEquals("two\nlines, \"quoted\" %s \u0000 é", json.get("message").textValue());
        assertEquals("2026-11-22T03:04:05.678Z", json.get("time").textValue());
        assertEquals("WARN", json.get("level").textValue());
        assertEquals("io.warmpath.X", json.get("logger").textValue());
        assertEquals("loop-1", json.get("thread").textValue());
        assertFalse(json.has("error"));
    }

    @Test
    void what_was_thrown_and_what_is_known_by_name_is_there() throws Exception {
        ExtLogRecord record = record("failed");
        record.setThrown(new IllegalStateException("why"));
        record.putMdc("request", "abc");
        JsonNode json = read(record);
        assertEquals("abc", json.get("request").textValue());
        assertEquals("java.lang.IllegalStateException", json.at("/error/type").textValue());
        assertEquals("why", json.at("/error/message").textValue());
        assertTrue(json.at("/error/stack").textValue().contains("JsonLogFormatterTest"));
    }

    @Test
    void numbers_are_numbers_and_the_text_has_the_same() throws Exception {
        ExtLogRecord record = record("%s");
        record.setMessage("%s", ExtLogRecord.FormatStyle.PRINTF);
        record.setParameters(
                new Object[] {
                    new LogFields()
                            .text("tenant", "a")
                            .text("nothing", "")
                            .count("status", 429)
                            .count("unknown", -1)
                            .millis("total_ms", 2_417_906_499L)
                });
        JsonNode json = read(record);
        assertEquals("tenant=a status=429 total_ms=2417.906", json.get("message").textValue());
        assertEquals("a", json.get("tenant").textValue());
        assertTrue(json.get("status").isInt());
        assertEquals(429, json.get("status").intValue());
        assertEquals(2417.906, json.get("total_ms").doubleValue());
        assertFalse(json.has("nothing") || json.has("unknown"));
    }
}
