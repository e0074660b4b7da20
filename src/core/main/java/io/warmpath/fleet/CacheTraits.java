package io.warmpath.fleet;

import java.util.List;

/**
 * In what a worker's cache differs from one whose events tell all of it, block by block of tokens.
 *
 * @param bigrams its keys may be pairs of neighbouring tokens, see {@link
 *     io.warmpath.prefix.Bigrams}
 * @param partlyTold what is cached is usable up to places that its events do not show: windows or
 *     states that it drops without a word
 * @param drafts it guesses tokens ahead, and does not say how: with some ways of it the last block
 *     that it finds is computed anew (vLLM with EAGLE or MTP)
 */
public record CacheTraits(boolean bigrams, boolean partlyTold, boolean drafts) {
    public static final CacheTraits PLAIN = new CacheTraits(false, false, false);

    /** Some of these that have this block size have keys of pairs. */
    public static boolean anyBigrams(List<Candidate> candidates, int blockSize) {
        for (int i = 0; i < candidates.size(); i++) {
            Worker worker = candidates.get(i).worker();
            if (worker.cache().bigrams() && worker.blockSize() == blockSize) {
                return true;
            }
        }
        return false;
    }
}
