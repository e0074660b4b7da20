package io.warmpath.lab.workload;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.Instant;

/**
 * One line of a gateway's file of decisions, as far as the lab reads it: a decision ({@code number}
 * is 0 or more) or the end of one ({@code ended} is). What is not there is negative or empty. Terms
 * of candidates are most of a line and are stepped over, not read.
 */
final class LogLine {
    private static final JsonFactory JSON = new JsonFactory();
    private static final double NANOS_PER_MILLI = 1e6;

    long number = -1;
    long ended = -1;
    double millis = Double.NaN;
    String model = "";

    /** Of a request that is split: {@code prefill} or {@code decode}; empty: it is whole. */
    String part = "";

    String session = "";
    String blocks = "";
    int blockTokens = -1;
    int promptTokens = -1;
    int candidates;
    double queuedMillis;
    int status = -1;
    int outputTokens = -1;
    int cachedTokens = -1;

    private LogLine() {}

    /**
     * @throws IOException when it is not JSON, or not all of it
     * @throws IllegalArgumentException when it is neither of the two
     */
    static LogLine read(byte[] line, int length) throws IOException {
        LogLine read = new LogLine();
        try (JsonParser json = JSON.createParser(line, 0, length)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IllegalArgumentException("not a JSON object");
            }
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                json.nextToken();
                read.member(name, json);
            }
            if (json.currentToken() != JsonToken.END_OBJECT || json.nextToken() != null) {
                throw new IllegalArgumentException("more than one JSON object");
            }
        }
        if ((read.number < 0) == (read.ended < 0)) {
            throw new IllegalArgumentException("neither a decision nor the end of one");
        }
        if (Double.isNaN(read.millis)) {
            throw new IllegalArgumentException("there is no `time`");
        }
        return read;
    }

    private void member(String name, JsonParser json) throws IOException {
        switch (name) {
            case "number" -> number = json.getLongValue();
            case "ended" -> ended = json.getLongValue();
            case "time" -> {
                Instant at = Instant.parse(json.getText());
                millis = at.getEpochSecond() * 1000.0 + at.getNano() / NANOS_PER_MILLI;
            }
            case "model" -> model = json.getText();
            case "part" -> part = json.getText();
            case "session" -> session = json.getText();
            case "block_tokens" -> blockTokens = json.getIntValue();
            case "prompt_blocks" -> blocks = json.getText();
            case "status" -> status = json.getIntValue();
            case "prompt_tokens" -> promptTokens = json.getIntValue();
            case "output_tokens" -> outputTokens = json.getIntValue();
            case "cached_tokens" -> cachedTokens = json.getIntValue();
            case "queued_ms" -> queuedMillis = json.getDoubleValue();
            case "decision" -> objectIn(json);
            default -> json.skipChildren();
        }
    }

    private void objectIn(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            json.nextToken();
            switch (name) {
                case "prompt_tokens", "queued_ms" -> member(name, json);
                case "candidates" -> candidates(json);
                default -> json.skipChildren();
            }
        }
    }

    /** How many there are; what they are is not read. */
    private void candidates(JsonParser json) throws IOException {
        while (json.nextToken() == JsonToken.START_OBJECT) {
            candidates++;
            json.skipChildren();
        }
    }
}
