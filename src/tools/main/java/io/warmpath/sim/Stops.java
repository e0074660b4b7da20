package io.warmpath.sim;

import io.warmpath.sim.model.AnswerWriter;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the client wants an answer to end. Immutable.
 *
 * @param texts as soon as one of them is written; it is left out
 * @param ids at one of these tokens; its text is left out
 */
record Stops(List<String> texts, Set<Integer> ids) {
    /**
     * Where and why an answer ends.
     *
     * @param tokens its length
     * @param characters of its text that the client gets to see
     * @param matched what ended it, as JSON: a token's id or a text; null when it reached its limit
     * @param asked the client wanted it to stop there; else the model did
     */
    record Ending(
            int tokens,
            int characters,
            AnswerShape.Finish finish,
            @Nullable String matched,
            boolean asked) {}

    /**
     * @param answer as it would be without a wish
     * @param endsByItself its last token is the model's own end
     * @param minTokens nothing stops it before it is so long
     */
    Ending ending(int[] answer, AnswerWriter writer, boolean endsByItself, int minTokens) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < answer.length; i++) {
            int before = text.length();
            text.append(writer.piece(answer[i]));
            if (i + 1 < minTokens) {
                continue;
            }
            if (ids.contains(answer[i])) {
                return new Ending(
                        i + 1,
                        before,
                        AnswerShape.Finish.STOP,
                        Integer.toUnsignedString(answer[i]),
                        true);
            }
            String found = firstIn(text);
            if (found != null) {
                return new Ending(
                        i + 1,
                        text.indexOf(found),
                        AnswerShape.Finish.STOP,
                        AnswerShape.quoted(found),
                        true);
            }
        }
        return new Ending(
                answer.length,
                text.length(),
                endsByItself ? AnswerShape.Finish.STOP : AnswerShape.Finish.LENGTH,
                endsByItself ? Integer.toString(writer.endToken()) : null,
                false);
    }

    private @Nullable String firstIn(StringBuilder text) {
        for (String stop : texts) {
            if (text.indexOf(stop) >= 0) {
                return stop;
            }
        }
        return null;
    }
}
