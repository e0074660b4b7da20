package io.warmpath.tokens.profile;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What a model's directory tells of who makes its prompts: a template, or code of the engine.
 *
 * @param modelType of config.json, empty when it does not say
 * @param architectures of config.json
 * @param mistralTokenizer there are files that only mistral-common reads
 * @param placeholders of media
 */
public record ModelFacts(
        String modelType,
        List<String> architectures,
        boolean mistralTokenizer,
        Placeholders placeholders) {
    /** Nothing is known; the template is taken at its word. */
    public static final ModelFacts UNKNOWN = new ModelFacts("", List.of(), false);

    public ModelFacts {
        modelType = modelType.toLowerCase(Locale.ROOT).replace('-', '_');
        architectures = List.copyOf(architectures);
    }

    public ModelFacts(String modelType, List<String> architectures, boolean mistralTokenizer) {
        this(modelType, architectures, mistralTokenizer, Placeholders.NONE);
    }

    /** Which code of the engine makes the prompts; empty: the template does. */
    public Optional<String> renderedByCode(EngineProfile engine) {
        if (engine == EngineProfile.NONE) {
            return Optional.empty();
        }
        if (is("deepseek_v32", "DeepseekV32")) {
            return Optional.of("DeepSeek V3.2");
        }
        if (is("deepseek_v4", "DeepseekV4")) {
            return Optional.of("DeepSeek V4");
        }
        if (is("kimi_k3", "KimiK3")) {
            return Optional.of("Kimi K3");
        }
        if (engine == EngineProfile.SGLANG) {
            return Optional.empty();
        }
        if (is("gpt_oss", "GptOss")) {
            return Optional.of("Harmony");
        }
        if (is("cohere", "Cohere")) {
            return Optional.of("Cohere");
        }
        return mistralTokenizer ? Optional.of("mistral-common") : Optional.empty();
    }

    private boolean is(String type, String architecture) {
        return modelType.startsWith(type)
                || architectures.stream().anyMatch(a -> a.startsWith(architecture));
    }
}
