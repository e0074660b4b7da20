package io.warmpath.gateway.observe;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which worker has computed prompts for which, since the gateway started. Any thread; one lock,
 * held for less than a microsecond by {@link #handedOver}. Of each worker the last {@value
 * #MOST_PEERS} that it was paired with: 100 that prefill and 100 that decode take 2 MB. Workers are
 * known by their names.
 */
public final class SplitPairs {
    private static final int MOST_WORKERS = 4096;
    static final int MOST_PEERS = 128;
    static final int MOST_TOLD = 10;

    private static final Comparator<SplitPair> BY_TRAFFIC =
            Comparator.comparingLong(SplitPair::tokens)
                    .thenComparingLong(SplitPair::splits)
                    .reversed()
                    .thenComparing(SplitPair::worker);

    /**
     * What one worker had to do with another.
     *
     * @param worker the other one
     * @param splits requests that the two did the halves of
     * @param tokens of their prompts, as far as known; all of them, cached or not
     */
    public record SplitPair(String worker, long splits, long tokens) {
        private SplitPair plus(SplitPair more) {
            return new SplitPair(worker, splits + more.splits, tokens + more.tokens);
        }
    }

    private final Map<String, Map<String, SplitPair>> peers = last(MOST_WORKERS); // guarded by this

    private static <V> Map<String, V> last(int most) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
                return size() > most;
            }
        };
    }

    synchronized void handedOver(String prefill, String decode, int promptTokens) {
        count(prefill, new SplitPair(decode, 1, promptTokens));
        count(decode, new SplitPair(prefill, 1, promptTokens));
    }

    private void count(String worker, SplitPair pair) {
        peers.computeIfAbsent(worker, w -> last(MOST_PEERS))
                .merge(pair.worker(), pair, SplitPair::plus);
    }

    /** At most {@value #MOST_TOLD}, those with most tokens first. */
    public synchronized List<SplitPair> of(String worker) {
        return peers.getOrDefault(worker, Map.of()).values().stream()
                .sorted(BY_TRAFFIC)
                .limit(MOST_TOLD)
                .toList();
    }

    /** The worker has left. */
    public synchronized void forget(String worker) {
        peers.remove(worker);
        peers.values().forEach(p -> p.remove(worker));
    }
}
