package io.warmpath.wiring.relay;

import io.warmpath.adapter.nats.WorkerRecord;
import io.warmpath.config.setting.TimeSpan;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.WorkerFields;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The worker that a relay registers.
 *
 * @param worker as gateways are to have it
 * @param lease how long it stays when the relay has died
 */
record RelayRegistration(WorkerSpec worker, Duration lease) {
    private static final Map<String, String> FLAGS =
            Map.of("url", "--worker", "id", "--worker-id", "dp-size", "--dp-size");
    private static final Set<String> POOLS =
            Set.of("sglang-hicache-mooncake", "vllm-mooncake-store");

    /**
     * @param url of the worker
     * @param id null: made of the URL
     * @param ranks null: the engine is asked
     * @param fields {@code KEY=VALUE} each, as annotations of Kubernetes have them
     * @param lease a duration such as {@code 10s}
     * @throws IllegalArgumentException with a sentence for the operator
     */
    static RelayRegistration of(
            String url,
            @Nullable String id,
            @Nullable String ranks,
            List<String> fields,
            String lease) {
        Map<String, String> record = new LinkedHashMap<>();
        record.put("url", url);
        if (id != null) {
            record.put("id", id);
        }
        if (ranks != null) {
            record.put("dp-size", ranks);
        }
        for (String field : fields) {
            int equals = field.indexOf('=');
            String key = equals < 0 ? field : field.substring(0, equals).replace('_', '-');
            if (equals < 1 || FLAGS.containsKey(key) || POOLS.contains(key)) {
                throw new IllegalArgumentException(
                        "--field takes KEY=VALUE, not "
                                + field
                                + (FLAGS.containsKey(key) ? "; use " + FLAGS.get(key) : ""));
            }
            record.put(key, field.substring(equals + 1));
        }
        return new RelayRegistration(WorkerFields.ofTexts(record), lease(lease));
    }

    private static Duration lease(String text) {
        try {
            Duration lease = TimeSpan.parse(text);
            if (lease.compareTo(WorkerRecord.MIN_LEASE) >= 0
                    && lease.compareTo(WorkerRecord.MAX_LEASE) <= 0) {
                return lease;
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw new IllegalArgumentException(
                "--lease takes a duration from %ss to %sm, such as 10s, not %s"
                        .formatted(
                                WorkerRecord.MIN_LEASE.toSeconds(),
                                WorkerRecord.MAX_LEASE.toMinutes(),
                                text));
    }
}
