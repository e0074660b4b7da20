package io.warmpath.gateway.prompt;

import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.load.PromptBlocks;
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

    public AskedPrompt(TokenStep tokenStep) {
        this.tokenStep = tokenStep;
    }

    public void known(@Nullable EnginePrompts tokens) {
        this.tokens = tokens;
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
        return tokens == null || tokens.isText() ? 0 : tokens.of(on.kind()).length();
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
        return blocksOn(on, tokens, named);
    }

    /**
     * The prompt as it is booked on this worker.
     *
     * @param named as filled by a decision
     */
    public static PromptBlocks blocksOn(
            Worker worker, @Nullable EnginePrompts tokens, List<PromptBlocks> named) {
        PromptBlocks known = find(named, worker.blockSize());
        return known != null
                ? known
                : PromptBlocks.unnamed(
                        worker.blockSize(),
                        tokens == null ? 1 : Math.max(1, tokens.of(worker.kind()).length()));
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
