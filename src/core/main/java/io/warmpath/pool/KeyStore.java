package io.warmpath.pool;

import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The pool's own list of what it holds, by key. Any thread, never blocks. Answers fail with {@link
 * PoolUnavailableException}.
 */
public interface KeyStore extends AutoCloseable {
    /** Which of these keys can be read now: bit i for the i-th. Must not extend a key's life. */
    CompletionStage<BitSet> held(List<String> keys);

    /** A few of the keys there are, for a person to compare with ours. */
    CompletionStage<List<String>> some(int most);

    /** Called, on any thread, when what was answered before is worth nothing any more. */
    void onForget(Runnable forget);

    @Override
    void close();
}
