package io.warmpath.adapter.nats;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.SpecFields;
import io.warmpath.fleet.source.WorkerFields;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a relay writes of its worker: JSON with {@code version} (1), {@code lease_ms}, {@code
 * process} and {@code worker}, an object with the fields of {@code POST /workers}. Immutable.
 *
 * @param lease how long it holds without another write, {@link #MIN_LEASE} to {@link #MAX_LEASE}
 * @param process who wrote it: another one for each start of a relay
 */
public record WorkerRecord(Duration lease, String process, WorkerSpec worker) {
    static final int VERSION = 1;

    /** Gateways let none run out in less than some seconds, though. */
    public static final Duration MIN_LEASE = Duration.ofSeconds(1);

    public static final Duration MAX_LEASE = Duration.ofMinutes(10);

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    /** A record that cannot be used; the message says why. */
    static final class BadRecord extends Exception {
        private static final long serialVersionUID = 1;

        BadRecord(String why) {
            super(why);
        }
    }

    byte[] encoded() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("version", VERSION);
        json.put("lease_ms", lease.toMillis());
        json.put("process", process);
        json.put("worker", SpecFields.of(worker));
        try {
            return JSON.writeValueAsBytes(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a worker's record as JSON", e);
        }
    }

    /** Fields that this version does not know are stepped over. */
    static WorkerRecord decode(byte[] bytes) throws BadRecord {
        Map<?, ?> json = object(bytes);
        if (!(json.get("version") instanceof Integer version) || version != VERSION) {
            throw new BadRecord(
                    "version is " + json.get("version") + ", this gateway reads " + VERSION);
        }
        if (!(json.get("lease_ms") instanceof Integer millis)
                || millis < MIN_LEASE.toMillis()
                || millis > MAX_LEASE.toMillis()) {
            throw new BadRecord(
                    "lease_ms is %s, not a whole number from %s to %s"
                            .formatted(
                                    json.get("lease_ms"),
                                    MIN_LEASE.toMillis(),
                                    MAX_LEASE.toMillis()));
        }
        if (!(json.get("process") instanceof String process)) {
            throw new BadRecord("process is not a text");
        }
        if (!(json.get("worker") instanceof Map<?, ?> worker)) {
            throw new BadRecord("worker is not an object");
        }
        try {
            return new WorkerRecord(
                    Duration.ofMillis(millis), process, WorkerFields.specOfKnown(worker));
        } catch (IllegalArgumentException e) {
            throw new BadRecord(String.valueOf(e.getMessage()));
        }
    }

    private static Map<?, ?> object(byte[] bytes) throws BadRecord {
        try {
            if (JSON.readValue(bytes, Object.class) instanceof Map<?, ?> json) {
                return json;
            }
        } catch (IOException e) {
            throw new BadRecord("it is not JSON");
        }
        throw new BadRecord("it is not a JSON object");
    }
}
