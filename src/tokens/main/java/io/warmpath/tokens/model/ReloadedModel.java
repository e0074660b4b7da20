package io.warmpath.tokens.model;

import java.util.List;

/**
 * What has become of the files of one or several models.
 *
 * @param models their names, sorted; {@code *} stands for all that are not named
 * @param files where they lie
 * @param problem what is wrong with them; empty when nothing is
 */
public record ReloadedModel(List<String> models, String files, Outcome outcome, String problem) {
    /** What prompts get from now on. */
    public enum Outcome {
        /** The new files are in service. */
        LOADED,
        /** The same files as before are in service. */
        UNCHANGED,
        /** The new files cannot be used; what was loaded before stays in service. */
        KEPT,
        /** No tokens: the files cannot be used, and no earlier ones were loaded. */
        WITHOUT_TOKENS
    }
}
