package io.warmpath.gateway;

import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What the client says about its request's place among others. A header wins over {@code
 * nvext.agent_hints}.
 *
 * @param priority higher is more important; {@code agent_hints.priority} or {@code
 *     x-dynamo-request-priority}
 * @param strictPriority a tier above every priority; {@code agent_hints.strict_priority} or {@code
 *     x-dynamo-request-strict-priority}
 * @param latencySensitivity older name of the priority; {@code agent_hints.latency_sensitivity}
 * @param outputTokens how long the answer is expected to be; {@code agent_hints.osl}
 * @param tenant {@code x-tenant-id}; null when there is none
 * @param policyClass {@code x-dynamo-meta-policy-class}; null when there is none
 */
public record AdmissionHints(
        OptionalInt priority,
        OptionalInt strictPriority,
        OptionalDouble latencySensitivity,
        OptionalInt outputTokens,
        @Nullable String tenant,
        @Nullable String policyClass) {
    public static final AdmissionHints NONE =
            new AdmissionHints(
                    OptionalInt.empty(),
                    OptionalInt.empty(),
                    OptionalDouble.empty(),
                    OptionalInt.empty(),
                    null,
                    null);
}
