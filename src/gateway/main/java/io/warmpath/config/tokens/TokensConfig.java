package io.warmpath.config.tokens;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Prompt to token ids. */
public interface TokensConfig {
    @Setting(
            doc =
                    "tokenizer.json per model name; `--tokenizer MODEL=FILE` may be repeated, a"
                            + " bare `--tokenizer FILE` serves every other model.",
            unit = "path",
            flags = {"--tokenizer"})
    Map<String, String> tokenizers();

    @Setting(doc = "tokenizer.json of models without an entry of their own.", unit = "path")
    Optional<String> defaultTokenizer();

    @WithDefault("configured")
    @Setting(
            doc =
                    "Whose word on where their model lies is followed, for models without a"
                            + " tokenizer here: a folder of this machine, or the hub's cache."
                            + " configured: of workers that the configuration names; all: of"
                            + " those that register themselves, too; off: nobody's.")
    EngineFiles engineFiles();

    @WithDefault("auto")
    @Setting(
            doc =
                    "auto: the C++ tokenizer for files that it understands wholly, the"
                            + " tokenizers library for the others; library: always the latter."
                            + " Both give the same ids.")
    TokenizerImplementation implementation();

    @WithDefault("0ms")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How often models' files are looked at; what has changed is loaded. 0ms:"
                            + " only on `POST /models/reload`.",
            maxTime = "1d")
    Duration reloadInterval();

    @WithDefault("0")
    @Setting(
            doc =
                    "Threads that tokenise; 0: one per two cores, at least one. Long prompts"
                            + " have half as many of their own, at least one.",
            unit = "threads",
            min = 0,
            max = 1024)
    int threads();

    @WithDefault("256")
    @Setting(
            doc = "Prompts that may wait to be tokenised; further ones are routed by load.",
            unit = "prompts",
            min = 1,
            max = 1e6)
    int queueSize();

    @WithDefault("2s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "A prompt that takes longer to tokenise is routed by load alone.",
            minTime = "1ms",
            maxTime = "1h")
    Duration deadline();
}
