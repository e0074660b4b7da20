package io.warmpath.config;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** Telling why a worker was chosen. */
public interface ExplainConfig {
    @WithDefault("on-request")
    @Setting(
            doc =
                    "When answer headers tell the chosen worker and why: off, on-request (when"
                            + " the request has `x-warmpath-explain: 1`, and its key's record, where there"
                            + " are keys, `explain: true`) or always.",
            flags = {"--explain"})
    ExplainHeaders headers();

    @WithDefault("10000")
    @Setting(
            doc =
                    "Last decisions that are kept for `GET /router/decisions` and `POST"
                            + " /router/replay`. 0: none, at no cost.",
            unit = "decisions",
            flags = {"--explain-decisions"},
            min = 0,
            max = 1_000_000)
    int decisions();

    @WithDefault("16M")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc = "Memory that they may take. The oldest go first.",
            flags = {"--explain-decisions-size"},
            maxSize = "1G")
    ByteSize decisionsSize();

    @WithDefault("2000")
    @Setting(
            doc = "Decisions that are kept in a second; what comes faster is counted and left out.",
            unit = "decisions per second",
            flags = {"--explain-decisions-rate"},
            min = 1,
            max = 1_000_000)
    int decisionsRate();

    @WithDefault("2000")
    @Setting(
            doc =
                    "Candidates in a second whose terms are kept with their decision, each of"
                            + " which takes a part of a microsecond and about 500 bytes. Other"
                            + " decisions are kept with the costs that were compared, and cannot be"
                            + " replayed.",
            unit = "candidates per second",
            flags = {"--explain-terms-rate"},
            min = 0,
            max = 1_000_000)
    int termsRate();

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
