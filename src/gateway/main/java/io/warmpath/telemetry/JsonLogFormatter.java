package io.warmpath.telemetry;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jboss.logmanager.ExtFormatter;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.Level;
import org.jspecify.annotations.Nullable;

/**
 * A line of the log as a JSON object: {@code time} (ISO 8601, UTC, milliseconds), {@code level},
 * {@code logger}, {@code thread}, {@code message}, then what the line knows by name (such as {@code
 * request}; numbers are numbers), and {@code error} with {@code type}, {@code message} and {@code
 * stack}. Any thread.
 */
public final class JsonLogFormatter extends ExtFormatter {
    private static final JsonFactory JSON = new JsonFactory();

    @Override
    public String format(ExtLogRecord record) {
        StringWriter line = new StringWriter(256);
        try (JsonGenerator json = JSON.createGenerator(line)) {
            json.writeStartObject();
            json.writeStringField(
                    "time",
                    DateTimeFormatter.ISO_INSTANT.format(
                            record.getInstant().truncatedTo(ChronoUnit.MILLIS)));
            json.writeStringField("level", level(record.getLevel()));
            json.writeStringField("logger", String.valueOf(record.getLoggerName()));
            json.writeStringField("thread", String.valueOf(record.getThreadName()));
            json.writeStringField("message", String.valueOf(formatMessage(record)));
            for (Map.Entry<String, String> known : record.getMdcCopy().entrySet()) {
                json.writeStringField(known.getKey(), known.getValue());
            }
            fields(record.getParameters(), json);
            Throwable thrown = record.getThrown();
            if (thrown != null) {
                StringWriter stack = new StringWriter();
                thrown.printStackTrace(new PrintWriter(stack));
                json.writeObjectFieldStart("error");
                json.writeStringField("type", thrown.getClass().getName());
                json.writeStringField("message", String.valueOf(thrown.getMessage()));
                json.writeStringField("stack", stack.toString());
                json.writeEndObject();
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("a string cannot be written", e);
        }
        return line.append('\n').toString();
    }

    private static void fields(Object @Nullable [] parameters, JsonGenerator json)
            throws IOException {
        if (parameters == null || parameters.length != 1) {
            return;
        }
        if (parameters[0] instanceof LogFields fields) {
            for (Map.Entry<String, Object> known : fields.known().entrySet()) {
                json.writeFieldName(known.getKey());
                switch (known.getValue()) {
                    case Long number -> json.writeNumber(number);
                    case Double number -> json.writeNumber(number);
                    default -> json.writeString(known.getValue().toString());
                }
            }
        }
    }

    private static String level(java.util.logging.Level level) {
        int value = level.intValue();
        return value >= Level.ERROR.intValue()
                ? "ERROR"
                : value >= Level.WARN.intValue()
                        ? "WARN"
                        : value >= Level.INFO.intValue()
                                ? "INFO"
                                : value >= Level.DEBUG.intValue() ? "DEBUG" : "TRACE";
    }
}
