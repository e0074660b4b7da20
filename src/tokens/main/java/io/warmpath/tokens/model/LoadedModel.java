package io.warmpath.tokens.model;

import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.text.AddedTokens;
import io.warmpath.tokens.text.TextTokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a model's tokenizer files give.
 *
 * @param tokenizer closed by whoever holds this
 * @param splitOn the added tokens, when cutting a text at them cannot change its ids; empty when
 *     some setting of this tokenizer looks across them
 * @param template empty when there is none, or none that can be used
 * @param specialTokens {@code bos_token} and so on, as far as the tokenizer has them
 * @param warnings sentences for the log, each with what follows from it
 */
public record LoadedModel(
        TextTokenizer tokenizer,
        Optional<AddedTokens> splitOn,
        Optional<ChatTemplate> template,
        Map<String, String> specialTokens,
        List<String> warnings) {

    /** The ids of a chat's prompt, as an engine makes them of it. */
    public int[] promptIds(EnginePrompt.Text prompt) {
        return promptIds(tokenizer, prompt, specialTokens);
    }

    /**
     * A rendered chat is tokenised without the tokens that the tokenizer adds around a text: its
     * template prints them. A text to go on with gets them, but for the one at its beginning.
     */
    public static int[] promptIds(
            TextTokenizer tokenizer, EnginePrompt.Text prompt, Map<String, String> specialTokens) {
        int[] ids = tokenizer.encode(prompt.rendered(), false);
        if (prompt.continued().isEmpty()) {
            return ids;
        }
        int[] more = tokenizer.encode(prompt.continued(), true);
        int from = more.length > 0 && isBos(more[0], tokenizer, specialTokens) ? 1 : 0;
        int[] all = Arrays.copyOf(ids, ids.length + more.length - from);
        System.arraycopy(more, from, all, ids.length, more.length - from);
        return all;
    }

    private static boolean isBos(
            int id, TextTokenizer tokenizer, Map<String, String> specialTokens) {
        String bos = specialTokens.get("bos_token");
        if (bos == null) {
            return false;
        }
        int[] ids = tokenizer.encode(bos, false);
        return ids.length == 1 && ids[0] == id;
    }
}
