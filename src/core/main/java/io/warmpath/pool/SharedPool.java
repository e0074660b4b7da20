package io.warmpath.pool;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * One shared pool, which every worker of its layout can fetch from. Any thread, event loops too: no
 * call blocks. The deadline is the caller's: an answer that nobody waits for any more still fills
 * the cache, so the next prompt like it is answered at once.
 */
public interface SharedPool extends AutoCloseable {
    PoolLayout layout();

    /**
     * Which pages of this prompt does the pool hold?
     *
     * @return fails with {@link PoolUnavailableException} and nothing else; on whatever thread the
     *     answer comes, and on the caller's when nothing has to be asked
     */
    CompletionStage<PoolHits> ask(PoolQuestion question);

    /**
     * Asks past the cache for each of these prompts, of which workers surely stored every page; for
     * the self-check. Returns fails as {@link #ask} does.
     */
    CompletionStage<RecipeCheck.Verdict> check(List<PoolQuestion> stored);

    PoolStanding standing();

    /** Questions on the way fail; later ones too. */
    @Override
    void close();
}
