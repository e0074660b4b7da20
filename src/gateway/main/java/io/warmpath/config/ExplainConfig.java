package io.warmpath.config;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** Telling why a worker was chosen. */
public interface ExplainConfig {
    @WithDefault("on-request")
    @Setting(
            doc =
                    "When answer headers tell the chosen worker and why: off, on-request (when"
                            + " the request has `x-warmpath-explain: 1`) or always.",
            flags = {"--explain"})
    ExplainHeaders headers();

    @WithDefault("0")
    @Setting(
            doc =
                    "Last decisions that are kept in full for `GET /router/decisions` and `POST"
                            + " /router/replay`. 0: none, at no cost.",
            unit = "decisions",
            flags = {"--explain-decisions"})
    int decisions();

    @WithDefault("false")
    @Setting(
            doc =
                    "Whether `GET /router/prefixes` shows how hot prefixes begin. Sensitive: the"
                            + " first 80 characters of some prompts are kept in memory, and whoever"
                            + " may ask as an operator reads what several clients' prompts begin"
                            + " with.",
            flags = {"--explain-prefix-text"})
    boolean prefixText();

    @Setting(
            doc =
                    "File to which every decision, and how it ended, is appended as a line of"
                            + " JSON, for `warmpath lab --from-log`; what the disk is too slow"
                            + " for is counted and left out. Empty: none.",
            unit = "path",
            flags = {"--explain-decisions-file"})
    Optional<String> decisionsFile();
}
