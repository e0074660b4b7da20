package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.EnginePrompt;

/**
 * What an engine makes of a chat that it is to go on with, where the beginning of the answer is the
 * last message ({@code continue_final_message}).
 */
public enum Continuation {
    /** The chat's own prompt with the text behind it, letter by letter. */
    EXACT,
    /** Something else: the template takes white space off, or puts something in between. */
    CHANGED,
    /** Not known here. */
    UNKNOWN;

    /**
     * @param asked the chat's own prompt
     * @param continued that of the chat with the text as its last message
     */
    static Continuation of(EnginePrompt asked, EnginePrompt continued, String said) {
        if (!(asked instanceof EnginePrompt.Text before)) {
            return UNKNOWN;
        }
        boolean exact =
                continued instanceof EnginePrompt.Text after
                        && after.whole().equals(before.whole() + said);
        return exact ? EXACT : CHANGED;
    }
}
