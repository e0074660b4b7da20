package io.warmpath.gateway.request;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.gateway.request.BodyMembers.Member;
import io.warmpath.upstream.answer.AnswerScanner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What matters of the answer of an engine of vLLM's that has computed a prompt for another one.
 *
 * @param handOff null: it names nothing to fetch
 * @param cachedTokens of the prompt; -1: it does not tell; {@link AnswerScanner#TOLD_HERE}: the
 *     engine that answers computes the prompt itself. Else that one may count what it was handed.
 */
public record PrefillAnswer(@Nullable HandOff handOff, long cachedTokens) {
    /** It tells nothing. */
    public static final PrefillAnswer NOTHING = new PrefillAnswer(null, -1);

    /** The prompt was not computed there. */
    public static final PrefillAnswer REFUSED = new PrefillAnswer(null, AnswerScanner.TOLD_HERE);

    /** {@code answer}: a JSON object; whatever else it is tells nothing. */
    public static PrefillAnswer of(byte[] answer) {
        try {
            BodyMembers members = BodyMembers.of(answer);
            return new PrefillAnswer(HandOff.of(answer, members), cached(answer, members));
        } catch (IOException e) {
            return NOTHING;
        }
    }

    private static long cached(byte[] answer, BodyMembers members) throws IOException {
        Member usage = members.get("usage");
        if (usage == null || usage.isNull()) {
            return -1;
        }
        byte[] json = Arrays.copyOfRange(answer, usage.start(), usage.end());
        JsonNode cached =
                GatewayJson.tree(new String(json, StandardCharsets.UTF_8))
                        .path("prompt_tokens_details")
                        .path("cached_tokens");
        return cached.isIntegralNumber() ? cached.asLong() : -1;
    }
}
