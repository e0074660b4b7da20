package io.warmpath.api.inference;

import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.NvextField;
import io.warmpath.tokens.Tokenizing;
import io.warmpath.tokens.template.PromptInput;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A prompt for a client that wants to see what its engine makes of it. Null: not known here.
 *
 * @param text as the template has rendered it
 * @param ids of its tokens, u32
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, and its own
record PromptNote(@Nullable String text, int @Nullable [] ids) {
    static final PromptNote UNKNOWN = new PromptNote(null, null);

    private static final Set<NvextField> OF_PROMPT =
            EnumSet.of(
                    NvextField.TOKEN_IDS,
                    NvextField.TOKEN_IDS_EVENT,
                    NvextField.FORMATTED_PROMPT_EVENT,
                    NvextField.QUERY_ONLY);

    static boolean isAskedFor(Set<NvextField> extras) {
        return extras.stream().anyMatch(OF_PROMPT::contains);
    }

    /** Takes as long as tokenising does. {@code model}: as workers list it. */
    static PromptNote of(
            InferenceRequest request, String model, FleetSnapshot fleet, Tokenizing tokens) {
        Tokenizing.Answer answer =
                switch (request.prompt()) {
                    case PromptInput.Ids given -> {
                        Tokenizing.Answer text = tokens.detokenize(model, given.tokens());
                        yield text instanceof Tokenizing.Tokens
                                ? text
                                : new Tokenizing.Tokens(given.tokens(), "");
                    }
                    case PromptInput.Several all -> new Tokenizing.NoTokenizer();
                    case PromptInput.Opaque none -> new Tokenizing.NoTokenizer();
                    default ->
                            tokens.tokenize(
                                    model, request.prompt(), Engines.of(fleet, model), null);
                };
        return answer instanceof Tokenizing.Tokens known
                ? new PromptNote(known.text().isEmpty() ? null : known.text(), known.ids())
                : UNKNOWN;
    }
}
