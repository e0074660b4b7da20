package io.warmpath.wiring.tokens;

import io.vertx.core.Vertx;
import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.tokens.TokenizerImplementation;
import io.warmpath.config.tokens.TokensConfig;
import io.warmpath.fleet.AdapterBases;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.model.ModelLoader;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.wiring.memory.MemoryPlan;
import java.nio.file.Path;
import java.util.Optional;

/** What makes token ids of prompts: models' files, their names, threads, reloads. */
public final class TokenParts implements AutoCloseable {
    private final ModelNames names;
    private final ModelTokens models;
    private final ModelReloads reloads;
    private final TokenThreads threads;

    /**
     * @param plan how much memory prompts may have
     * @param told the bases of adapters, as engines tell
     */
    public TokenParts(WarmpathConfig config, MemoryPlan plan, Vertx vertx, AdapterBases told) {
        names = ModelSettings.names(config, told);
        models =
                new ModelTokens(
                        ModelSettings.sources(config),
                        loader(config.tokens(), config.index().nativePath().map(Path::of)),
                        plan.tokens(TokensOptions.DEFAULT),
                        System::nanoTime,
                        names::base);
        reloads = new ModelReloads(vertx, models, config.tokens().reloadInterval());
        threads = new TokenThreads(config.tokens().threads(), config.tokens().queueSize());
    }

    public ModelNames names() {
        return names;
    }

    public ModelTokens models() {
        return models;
    }

    public TokenThreads threads() {
        return threads;
    }

    /**
     * The same tokenizers with a memory of their own; for a model that has none here, tokens that
     * are never known, which nobody is told.
     */
    public PromptTokens apart(String model, long cacheBytes) {
        return models.has(model) ? models.apart(cacheBytes) : new NoTokens();
    }

    public void start() {
        reloads.start();
    }

    /** No model is read again from here on. */
    public void stopReloads() {
        reloads.close();
    }

    /** Prompts may no longer come. */
    @Override
    public void close() {
        threads.close();
        models.close();
    }

    private static ModelLoader loader(TokensConfig config, Optional<Path> library) {
        return config.implementation() == TokenizerImplementation.AUTO
                ? new HuggingFaceModelLoader(parts -> new NativeBpeTokenizer(library, parts))
                : new HuggingFaceModelLoader();
    }

    /** Of a model without a tokenizer here. */
    private static final class NoTokens implements PromptTokens {
        @Override
        public AtOnce atOnce(String model, PromptInput prompt, EngineProfile engine) {
            return new Made(Optional.empty());
        }

        @Override
        public Optional<int[]> tokens(String model, PromptInput prompt, EngineProfile engine) {
            return Optional.empty();
        }
    }
}
