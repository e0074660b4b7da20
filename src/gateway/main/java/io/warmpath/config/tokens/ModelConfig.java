package io.warmpath.config.tokens;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import java.util.List;
import java.util.Optional;

/** One model. */
public interface ModelConfig {
    @Setting(
            doc =
                    "Directory with the model's tokenizer, chat template and configuration, as"
                            + " it is published; or its tokenizer.json with the others beside"
                            + " it.",
            unit = "path")
    Optional<String> path();

    @Setting(doc = "Its tokenizer.json, where that is not the one of `path`.", unit = "path")
    Optional<String> tokenizer();

    @WithDefault("auto")
    @Setting(
            doc =
                    "Ask the engines' own `/tokenize` for prompts whose tokens the files here do"
                            + " not give. auto: of a model without files that can be used; true:"
                            + " of prompts that an engine makes by code, too; false: never.")
    AskEngine askEngine();

    @Setting(
            doc =
                    "File with its chat template, in place of those of `path`: what the engines"
                            + " were given with `--chat-template`.",
            unit = "path")
    Optional<String> chatTemplate();

    @Setting(
            doc =
                    "Tokens per KV block of its workers that neither tell it nor have it"
                            + " configured, in place of `warmpath.fleet.default-block-size`.",
            unit = "tokens",
            min = 1,
            max = 65536)
    Optional<Integer> blockSize();

    @Setting(
            doc =
                    "Cache salt of all its requests, which keeps their blocks apart in the"
                            + " engines' caches; a client's own salt goes behind it and a"
                            + " colon.",
            unit = "text without a colon")
    Optional<String> namespace();

    @Setting(doc = "Other names under which clients find it.", unit = "name,name,...")
    Optional<List<String>> aliases();

    @Setting(
            doc =
                    "Its LoRA adapters, as engines list them, where engines do not tell whose they"
                            + " are (vLLM and SGLang do). They have its tokens, and blocks of their"
                            + " own.",
            unit = "name,name,...")
    Optional<List<String>> lora();
}
