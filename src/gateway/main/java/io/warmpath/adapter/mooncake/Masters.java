package io.warmpath.adapter.mooncake;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.warmpath.adapter.mooncake.MasterHttp.Answer;
import io.warmpath.pool.PoolUnavailableException;
import io.warmpath.pool.PoolUnavailableException.Reason;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the leader among a pool's masters, and notices when it changes.
 *
 * <p>Any thread. One election at a time; whoever needs the leader meanwhile waits for it. The first
 * master that says {@code leader} at {@code /role} and is ready wins. It must be 0.3.12 or later,
 * known by {@code /kv_events/status}: before, a look-up prolonged the life of what it found, so
 * asking would keep pages that nobody needs.
 */
final class Masters {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Who is asked, and in which view it leads; the view is empty without high availability. */
    record Leader(URI master, String view) {}

    private final List<URI> masters;
    private final MasterHttp http;
    private final LongSupplier nanoTime;
    private final long checkNanos;
    private final Runnable forget;
    private final AtomicBoolean checking = new AtomicBoolean();
    private @Nullable Leader leader; // guarded by this, with the rest
    private @Nullable Leader last;
    private boolean lostTouch;
    private @Nullable Future<Leader> election;
    private long checkedAt;

    /**
     * @param forget called when what was answered before is worth nothing any more
     */
    Masters(
            List<URI> masters,
            MasterHttp http,
            long checkNanos,
            LongSupplier nanoTime,
            Runnable forget) {
        this.masters = List.copyOf(masters);
        this.http = http;
        this.checkNanos = checkNanos;
        this.nanoTime = nanoTime;
        this.forget = forget;
    }

    /** The leader, from memory or by asking all; now and then it is looked whether it still is. */
    Future<Leader> leader() {
        Leader known;
        synchronized (this) {
            if (leader == null) {
                return elect();
            }
            known = leader;
            if (nanoTime.getAsLong() - checkedAt < checkNanos) {
                return Future.succeededFuture(known);
            }
        }
        if (checking.compareAndSet(false, true)) {
            health(known.master())
                    .onSuccess(now -> checked(known, now))
                    .onFailure(e -> lost(known, true))
                    .onComplete(done -> checking.set(false));
        }
        return Future.succeededFuture(known);
    }

    private void checked(Leader known, Leader now) {
        synchronized (this) {
            checkedAt = nanoTime.getAsLong();
        }
        if (!now.equals(known)) {
            lost(known, false);
        }
    }

    /**
     * This leader did not answer, or not as one. The next question looks for another.
     *
     * @param touch whether the connection was lost: it may have been started anew, with nothing
     *     left of what it knew
     */
    synchronized void lost(Leader was, boolean touch) {
        if (was.equals(leader)) {
            leader = null;
            lostTouch |= touch;
        }
    }

    private synchronized Future<Leader> elect() {
        if (election != null) {
            return election;
        }
        Promise<Leader> winner = Promise.promise();
        Future<Leader> running = winner.future();
        election = running;
        running.onComplete(done -> elected(done.succeeded() ? done.result() : null));
        List<PoolUnavailableException> refusals = new ArrayList<>();
        for (URI master : masters) {
            candidate(master)
                    .onSuccess(winner::tryComplete)
                    .onFailure(e -> refused(winner, refusals, e));
        }
        return running;
    }

    private void elected(@Nullable Leader winner) {
        boolean changed;
        synchronized (this) {
            election = null;
            if (winner == null) {
                return;
            }
            changed = lostTouch || (last != null && !last.equals(winner));
            leader = winner;
            last = winner;
            lostTouch = false;
            checkedAt = nanoTime.getAsLong();
        }
        if (changed) {
            forget.run();
        }
    }

    private void refused(
            Promise<Leader> winner, List<PoolUnavailableException> refusals, Throwable failure) {
        synchronized (refusals) {
            refusals.add(
                    failure instanceof PoolUnavailableException known
                            ? known
                            : new PoolUnavailableException(
                                    Reason.GARBLED, String.valueOf(failure), failure));
            if (refusals.size() < masters.size()) {
                return;
            }
        }
        // The most telling of all: an old version, then a master that does not lead.
        PoolUnavailableException worst = refusals.getFirst();
        for (PoolUnavailableException refusal : refusals) {
            if (weight(refusal) > weight(worst)) {
                worst = refusal;
            }
        }
        winner.tryFail(worst);
    }

    private static int weight(PoolUnavailableException refusal) {
        return switch (refusal.reason()) {
            case VERSION -> 3;
            case NO_LEADER -> 2;
            case GARBLED -> 1;
            default -> 0;
        };
    }

    private Future<Leader> candidate(URI master) {
        return http.get(master, "/role")
                .compose(role -> leads(master, role))
                .compose(yes -> health(master))
                .compose(
                        found ->
                                http.get(master, "/kv_events/status")
                                        .compose(status -> young(master, status))
                                        .map(found));
    }

    private static Future<Void> leads(URI master, Answer role) {
        if (role.status() == 404) {
            return refuse(
                    Reason.VERSION,
                    master
                            + " has no /role: a master before 0.3.11, or not a master's admin port"
                            + " (9003 by default)");
        }
        if (role.status() != 200) {
            return refuse(Reason.GARBLED, master + " answers /role with " + role.status());
        }
        String said = role.text().strip();
        return said.equals("leader")
                ? Future.succeededFuture()
                : refuse(
                        said.equals("standby") ? Reason.NO_LEADER : Reason.GARBLED,
                        master
                                + " does not lead: "
                                + said.substring(0, Math.min(40, said.length())));
    }

    private static Future<Void> young(URI master, Answer status) {
        return status.status() == 200
                ? Future.succeededFuture()
                : refuse(
                        Reason.VERSION,
                        master
                                + " is a Mooncake master before 0.3.12 (no /kv_events/status):"
                                + " its look-ups take leases, so it is not asked; upgrade it");
    }

    /** Leading and ready, or a failure that says what else. */
    private Future<Leader> health(URI master) {
        return http.get(master, "/health")
                .compose(
                        answer -> {
                            try {
                                return healthy(master, JSON.readTree(answer.body().getBytes()));
                            } catch (IOException e) {
                                return refuse(
                                        Reason.GARBLED, master + " answers /health with no JSON");
                            }
                        });
    }

    private static Future<Leader> healthy(URI master, @Nullable JsonNode health) {
        if (health == null || !health.isObject()) {
            return refuse(Reason.GARBLED, master + " answers /health with no object");
        }
        if (!health.path("service_ready").asBoolean()
                || !health.path("role").asText("leader").equals("leader")) {
            return refuse(
                    Reason.NO_LEADER,
                    master
                            + " is not ready: role "
                            + health.path("role").asText()
                            + ", state "
                            + health.path("ha_state").asText());
        }
        JsonNode view = health.path("view_version");
        return Future.succeededFuture(
                new Leader(master, view.isNull() || view.isMissingNode() ? "" : view.asText()));
    }

    static <T> Future<T> refuse(Reason reason, String why) {
        return Future.failedFuture(new PoolUnavailableException(reason, why));
    }
}
