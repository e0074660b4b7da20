package io.warmpath.adapter.mooncake;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.warmpath.adapter.mooncake.MasterHttp.Answer;
import io.warmpath.adapter.mooncake.Masters.Leader;
import io.warmpath.pool.KeyStore;
import io.warmpath.pool.PoolUnavailableException;
import io.warmpath.pool.PoolUnavailableException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/**
 * The keys of a Mooncake pool, asked of its leading master: {@code GET /batch_query_keys}, in
 * chunks side by side. Such look-ups are read-only since 0.3.12: they take no lease.
 *
 * <p>Threads as the port says. A question that meets a broken connection or a master that leads no
 * more looks for the leader and is asked once again.
 */
public final class MooncakeKeyStore implements KeyStore {
    private static final String HEX = "0123456789ABCDEF";

    /** Enough of /get_all_keys for a few keys; a pool has millions. */
    private static final int KEY_LIST_BYTES = 1 << 16;

    /** Engines write keys like this one when they start. */
    private static final String WARM_UP = "sglang_mooncake_store_warmup_key";

    /** Judges what the names of masters lead to. Any thread, never blocks. */
    public interface Reach {
        /** Of masters that only the operator's configuration names. */
        Reach ANYWHERE =
                new Reach() {
                    @Override
                    public boolean judges(URI master) {
                        return false;
                    }

                    @Override
                    public void check(URI master, InetAddress found) {}
                };

        /** False: this master may be anywhere. */
        boolean judges(URI master);

        /**
         * @throws IOException when nothing is to be sent there, saying why
         */
        void check(URI master, InetAddress found) throws IOException;
    }

    private final MasterHttp http;
    private final MooncakeOptions options;
    private final Masters masters;
    private volatile Runnable forget = () -> {};
    private volatile boolean closed;

    /**
     * @param vertx whose event loops carry the connections
     * @param masters admin URLs
     */
    public MooncakeKeyStore(
            Vertx vertx,
            List<URI> masters,
            MooncakeOptions options,
            LongSupplier nanoTime,
            Reach reach) {
        this.http = new MasterHttp(vertx, options, reach);
        this.options = options;
        this.masters =
                new Masters(
                        masters, http, options.viewCheck().toNanos(), nanoTime, () -> forget.run());
    }

    @Override
    public CompletionStage<BitSet> held(List<String> keys) {
        if (closed) {
            return CompletableFuture.failedFuture(
                    new PoolUnavailableException(Reason.CLOSED, "the pool is closed"));
        }
        if (keys.isEmpty()) {
            return CompletableFuture.completedFuture(new BitSet());
        }
        return twice(leader -> held(leader, keys)).toCompletionStage();
    }

    private interface Question<T> {
        Future<T> ask(Leader leader);
    }

    private <T> Future<T> twice(Question<T> question) {
        return once(question).recover(e -> again(e) ? once(question) : Future.failedFuture(e));
    }

    private <T> Future<T> once(Question<T> question) {
        return masters.leader()
                .compose(leader -> question.ask(leader).onFailure(e -> failed(leader, reason(e))));
    }

    /** What says something about the leader; that too much was asked at once does not. */
    private void failed(Leader leader, Reason reason) {
        if (reason != Reason.BUSY) {
            masters.lost(leader, reason != Reason.TIMEOUT);
        }
    }

    /** Worth another try: the connection broke, or the master does not serve any more. */
    private static boolean again(Throwable failure) {
        Reason reason = reason(failure);
        return reason == Reason.UNREACHABLE || reason == Reason.NO_LEADER;
    }

    private static Reason reason(Throwable failure) {
        return failure instanceof PoolUnavailableException known ? known.reason() : Reason.GARBLED;
    }

    private Future<BitSet> held(Leader leader, List<String> keys) {
        int each = options.keysPerRequest();
        List<Future<BitSet>> chunks = new ArrayList<>();
        for (int from = 0; from < keys.size(); from += each) {
            List<String> chunk = keys.subList(from, Math.min(keys.size(), from + each));
            chunks.add(
                    http.get(leader.master(), path(chunk))
                            .compose(answer -> read(leader.master(), answer, chunk)));
        }
        if (chunks.size() == 1) {
            return chunks.getFirst();
        }
        return Future.all(chunks)
                .map(
                        all -> {
                            BitSet held = new BitSet(keys.size());
                            for (int i = 0; i < chunks.size(); i++) {
                                int from = i * each;
                                BitSet part = chunks.get(i).result();
                                part.stream().forEach(bit -> held.set(from + bit));
                            }
                            return held;
                        });
    }

    private static Future<BitSet> read(URI master, Answer answer, List<String> keys) {
        if (answer.status() == 503) {
            return Masters.refuse(
                    Reason.NO_LEADER, master + " does not serve: standby or starting");
        }
        if (answer.status() != 200) {
            return Masters.refuse(
                    Reason.GARBLED,
                    master
                            + " answers a look-up with "
                            + answer.status()
                            + "; is it a Mooncake master's admin port?");
        }
        try {
            return Future.succeededFuture(BatchAnswer.held(answer.body().getBytes(), keys));
        } catch (IOException e) {
            return Future.failedFuture(
                    new PoolUnavailableException(
                            Reason.GARBLED,
                            master + " answers a look-up with " + e.getMessage(),
                            e));
        }
    }

    /** All but RFC 3986's unreserved characters are encoded: a master decodes, then splits. */
    static String path(List<String> keys) {
        StringBuilder path = new StringBuilder(keys.size() * 96).append("/batch_query_keys?keys=");
        for (int i = 0; i < keys.size(); i++) {
            if (i > 0) {
                path.append(',');
            }
            encode(keys.get(i), path);
        }
        return path.toString();
    }

    private static void encode(String key, StringBuilder into) {
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (!unreserved(c)) {
                encodeFrom(key, i, into);
                return;
            }
            into.append(c);
        }
    }

    private static void encodeFrom(String key, int from, StringBuilder into) {
        for (byte b : key.substring(from).getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if (unreserved(c)) {
                into.append(c);
            } else {
                into.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            }
        }
    }

    private static boolean unreserved(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '-'
                || c == '.'
                || c == '_'
                || c == '~';
    }

    @Override
    public CompletionStage<List<String>> some(int most) {
        return twice(leader -> http.get(leader.master(), "/get_all_keys", KEY_LIST_BYTES))
                .compose(answer -> keysOf(answer, most))
                .toCompletionStage();
    }

    private static Future<List<String>> keysOf(Answer answer, int most) {
        if (answer.status() != 200) {
            return Masters.refuse(
                    Reason.GARBLED, "the list of keys is answered with " + answer.status());
        }
        return Future.succeededFuture(
                answer.text()
                        .lines()
                        .filter(key -> !key.isEmpty() && !key.startsWith(WARM_UP))
                        .limit(most)
                        .toList());
    }

    @Override
    public void onForget(Runnable action) {
        forget = action;
    }

    @Override
    public void close() {
        closed = true;
        http.close();
    }
}
