package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.api.json.DecisionJson;
import io.warmpath.gateway.observe.DecisionLog.Ended;
import io.warmpath.gateway.observe.DecisionLog.Logged;
import io.warmpath.load.PromptBlocks;
import io.warmpath.routing.Part;
import io.warmpath.routing.RoutingDecision;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Lines of the file of decisions, without their line ends. Any thread. */
public final class DecisionLines {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();

    private DecisionLines() {}

    /**
     * One decision.
     *
     * @param session as the client names it
     * @param part of a request that is split, which of its two workers this is
     * @param decision an object
     * @param promptBlocks what the prompt shares with others, half of each block's name, which is
     *     enough among the blocks that can follow one block. Without the process' secret nothing of
     *     the prompt is in it.
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Made(
            long number,
            String time,
            String requestId,
            @Nullable String session,
            String model,
            @Nullable String part,
            @JsonRawValue String decision,
            @Nullable Integer blockTokens,
            @Nullable String promptBlocks) {}

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
        PromptBlocks prompt = prompt(logged.decision());
        return json(
                new Made(
                        logged.number(),
                        logged.at().toString(),
                        logged.requestId(),
                        logged.session().isEmpty() ? null : logged.session(),
                        logged.model(),
                        part(logged.decision().request().part()),
                        DecisionJson.of(logged.decision(), List.of()),
                        prompt == null ? null : prompt.blockSize(),
                        prompt == null ? null : names(prompt)));
    }

    /** The prompt in blocks of the chosen worker's size; null where they are not known. */
    private static @Nullable PromptBlocks prompt(RoutingDecision decision) {
        PromptBlocks blocks =
                decision.request().prompt(decision.chosen().candidate().worker().blockSize());
        return blocks == null || blocks.chain().length == 0 ? null : blocks;
    }

    /** Of a request that is split. */
    private static @Nullable String part(Part part) {
        return part == Part.WHOLE ? null : part.name().toLowerCase(Locale.ROOT);
    }

    private static String names(PromptBlocks prompt) {
        StringBuilder names = new StringBuilder(8 * prompt.chain().length);
        for (long name : prompt.chain()) {
            names.append(HEX.toHexDigits((int) name));
        }
        return names.toString();
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
