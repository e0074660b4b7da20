package io.warmpath.gateway.prompt;

import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.load.PromptBlocks;
import io.warmpath.routing.NotExact;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one request's prompt, as each kind of engine makes it; nothing more once it has
 * been forgotten. Confined to the request's event loop.
 */
public final class AskedPrompt {
    private final TokenStep tokenStep;
    private final List<PromptBlocks> named = new ArrayList<>(1);
    private @Nullable EnginePrompts tokens;
    private NotExact whyUnknown = NotExact.LOAD_ALONE;

    public AskedPrompt(TokenStep tokenStep) {
        this.tokenStep = tokenStep;
    }

    public void known(@Nullable EnginePrompts tokens) {
        this.tokens = tokens;
    }

    /** Nothing is known of it. */
    public void unknown(NotExact why) {
        tokens = null;
        whyUnknown = why;
    }

    /** Of a prompt that is not known. */
    public NotExact whyUnknown() {
        return whyUnknown;
    }

    /** The names of its blocks stay. */
    public void forget() {
        tokens = null;
    }

    public @Nullable EnginePrompts tokens() {
        return tokens;
    }

    /** Its blocks as they were cut for a decision; filled by the planner. */
    public List<PromptBlocks> named() {
        return named;
    }

    /** In tokens; 0 when it is not known but by its text, or no longer. */
    public int length(Worker on) {
        return tokens == null || tokens.isGuess() ? 0 : tokens.of(on.kind()).length();
    }

    /** The prompt as that worker has it; null when it is not known, or no longer. */
    public @Nullable PromptContent content(Worker on) {
        return tokens == null ? null : tokens.of(on.kind());
    }

    /** Its token ids; where there are hashes only they are made anew, which may block. */
    public Supplier<int[]> ids(Worker on, InferenceRequest request) {
        int[] known = knownIds(on);
        return known.length > 0 ? () -> known : () -> tokenStep.idsOn(on.kind(), request);
    }

    /** Its token ids; empty where there are none, or hashes only. */
    public int[] knownIds(Worker on) {
        return tokens == null ? PromptContent.NO_IDS : tokens.of(on.kind()).ids();
    }

    /** Its blocks as this worker cuts them; one when the prompt is not known. */
    public PromptBlocks blocks(Worker on) {
        PromptBlocks known = find(named, on.blockSize());
        return known != null
                ? known
                : PromptBlocks.unnamed(
                        on.blockSize(),
                        tokens == null ? 1 : Math.max(1, tokens.of(on.kind()).length()));
    }

    /** Those of this block size; null: it was not met yet. */
    public static @Nullable PromptBlocks find(List<PromptBlocks> named, int blockSize) {
        for (int i = 0; i < named.size(); i++) {
            if (named.get(i).blockSize() == blockSize) {
                return named.get(i);
            }
        }
        return null;
    }
}
