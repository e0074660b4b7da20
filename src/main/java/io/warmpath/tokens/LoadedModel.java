package io.warmpath.tokens;

import java.util.List;
import java.util.Optional;

/**
 * What a model's tokenizer files give.
 *
 * @param tokenizer closed by whoever holds this
 * @param splitOn the added tokens, when cutting a text at them cannot change its ids; empty when
 *     some setting of this tokenizer looks across them
 * @param template empty when the model's chat template is not of a known form
 * @param warnings sentences for the log, each with what follows from it
 */
public record LoadedModel(
        TextTokenizer tokenizer,
        Optional<AddedTokens> splitOn,
        Optional<ChatTemplate> template,
        List<String> warnings) {}
