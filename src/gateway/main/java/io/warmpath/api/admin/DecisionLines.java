package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.gateway.observe.DecisionLog.Ended;
import io.warmpath.gateway.observe.DecisionLog.Logged;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Lines of the file of decisions, without their ends. Any thread. */
public final class DecisionLines {
    private static final ObjectMapper JSON = new ObjectMapper();

    private DecisionLines() {}

    /** How one attempt ended; what is not known is absent. */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record End(
            long ended,
            String time,
            int status,
            @Nullable Long promptTokens,
            @Nullable Long outputTokens,
            @Nullable Long cachedTokens,
            @Nullable Double firstTokenMs,
            @Nullable Double totalMs) {}

    /** One decision. */
    public static byte[] of(Logged logged) {
        return json(DecisionRow.withPrompt(logged));
    }

    /** How one ended. */
    public static byte[] of(Ended end) {
        return json(
                new End(
                        end.number(),
                        end.at().toString(),
                        end.ending().status(),
                        known(end.ending().promptTokens()),
                        known(end.ending().outputTokens()),
                        known(end.ending().cachedTokens()),
                        millis(end.ending().firstTokenNanos()),
                        millis(end.ending().nanos())));
    }

    private static @Nullable Long known(long value) {
        return value >= 0 ? value : null;
    }

    private static @Nullable Double millis(long nanos) {
        return nanos >= 0 ? nanos / 1e6 : null;
    }

    private static byte[] json(Object row) {
        try {
            return JSON.writeValueAsBytes(row);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e); // a record of numbers and texts
        }
    }
}
