package io.warmpath.routing.rates;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.MovedKv;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How fast KV caches move between engines and how large they are, as the engines count it that
 * fetch them. Of an engine that does not tell nothing is kept. Any thread; each worker has a lock
 * of its own, held for a moment.
 */
public final class TransferRates {
    /** What is left of older samples with each new one. */
    private static final double KEPT = 0.98;

    /** A sample that differs more often than that from those before it counts as this often. */
    private static final double OUTLIER = 4;

    /**
     * Samples, and requests of this gateway's, that tell something: tokens are counted when their
     * request begins, bytes when they are there, and the two may fall into different samples.
     */
    private static final double ENOUGH = 8;

    private final Map<Long, Fetched> workers = new ConcurrentHashMap<>();

    /** Transfers of one kind. {@code seconds}: that requests waited for them. */
    public record Link(double bytes, double seconds) {
        static final Link UNSEEN = new Link(0, 0);

        private Link with(double moreBytes, double moreSeconds) {
            double expected = seconds / Math.max(1, bytes) * moreBytes;
            double counted =
                    expected == 0
                            ? moreSeconds
                            : Math.clamp(moreSeconds, expected / OUTLIER, expected * OUTLIER);
            return new Link(KEPT * bytes + moreBytes, KEPT * seconds + counted);
        }

        private Link plus(Link other) {
            return new Link(bytes + other.bytes, seconds + other.seconds);
        }
    }

    /**
     * What is known of some engines together; all 0 and empty: nothing. Immutable.
     *
     * @param tokens that came from other engines
     * @param bytes the same
     * @param links by what both engines share
     */
    public record Known(double tokens, double bytes, Map<Place.Shared, Link> links) {
        public static final Known NOTHING = new Known(0, 0, Map.of());

        public Link link(Place.Shared by) {
            return links.getOrDefault(by, Link.UNSEEN);
        }

        /** Of a token, all layers and devices together; 0: not known. */
        public double bytesPerToken() {
            return tokens == 0 ? 0 : bytes / tokens;
        }

        /** Of one request's transfer, whatever the link; 0: not known. */
        public double bytesPerSecond() {
            Link all = links.values().stream().reduce(Link.UNSEEN, Link::plus);
            return all.seconds == 0 ? 0 : all.bytes / all.seconds;
        }

        private Known plus(Known other) {
            Map<Place.Shared, Link> sums = new EnumMap<>(Place.Shared.class);
            sums.putAll(links);
            other.links.forEach((by, link) -> sums.merge(by, link, Link::plus));
            return new Known(tokens + other.tokens, bytes + other.bytes, sums);
        }
    }

    /** A worker is to fetch the cache of so many tokens from one with which it shares that. */
    public void sent(long worker, Place.Shared by, int tokens) {
        Fetched of = workers.get(worker);
        if (of != null && tokens > 0) {
            of.sent(by, tokens);
        }
    }

    /**
     * What a worker's engine says now of its ranks.
     *
     * @param loads where none tells of transfers, the worker is forgotten
     */
    public void told(List<EngineLoad> loads, long worker) {
        MovedKv total = MovedKv.NONE;
        boolean tells = false;
        for (EngineLoad load : loads) {
            MovedKv moved = load.moved();
            if (moved != null) {
                total = total.plus(moved);
                tells = true;
            }
        }
        if (!tells) {
            workers.remove(worker);
        } else {
            workers.computeIfAbsent(worker, w -> new Fetched()).told(total);
        }
    }

    /** Of one worker. */
    public Known of(long worker) {
        Fetched of = workers.get(worker);
        return of == null ? Known.NOTHING : of.known();
    }

    /**
     * Of these candidates' workers together: alike as they are, more is known of all than of one.
     */
    public Known together(List<Candidate> candidates) {
        Known sum = Known.NOTHING;
        if (!workers.isEmpty()) {
            for (Candidate c : candidates) {
                sum = sum.plus(of(c.worker().id()));
            }
        }
        return sum;
    }

    /** What one engine has fetched. */
    private static final class Fetched {
        private MovedKv last = MovedKv.NONE;
        private boolean first = true;
        private MovedKv sum = MovedKv.NONE;
        private double samples;
        private final Map<Place.Shared, Link> links = new EnumMap<>(Place.Shared.class);

        // Of this gateway's requests.
        private double requests;
        private double requestTokens;
        private Set<Place.Shared> lately = EnumSet.noneOf(Place.Shared.class);
        private Set<Place.Shared> before = EnumSet.noneOf(Place.Shared.class);

        synchronized void sent(Place.Shared by, int tokens) {
            requests = KEPT * requests + 1;
            requestTokens = KEPT * requestTokens + tokens;
            lately.add(by);
        }

        synchronized void told(MovedKv total) {
            MovedKv more = total.since(last);
            last = total;
            if (first) {
                first = false; // of before this gateway's time
            } else if (more.tokens() >= 0 && more.transfers() >= 0 && more.bytes() > 0) {
                samples = KEPT * samples + 1;
                sum =
                        new MovedKv(
                                KEPT * sum.tokens() + more.tokens(),
                                KEPT * sum.bytes() + more.bytes(),
                                KEPT * sum.transfers() + more.transfers(),
                                0);
                learnLink(more);
            }
            before = lately;
            lately = EnumSet.noneOf(Place.Shared.class);
        }

        /**
         * Where all that was fetched lately came by one kind of link, and at least some is ours.
         */
        private void learnLink(MovedKv more) {
            Set<Place.Shared> by = EnumSet.copyOf(before);
            by.addAll(lately);
            if (by.size() == 1 && requests >= ENOUGH && more.seconds() > 0) {
                links.merge(
                        by.iterator().next(),
                        Link.UNSEEN.with(more.bytes(), more.seconds() / atOnce()),
                        (old, sample) -> old.with(sample.bytes, sample.seconds));
            }
        }

        /**
         * Transfers of one request, which run beside each other: engines tell how many there are
         * for how many tokens, and this gateway knows how long its requests are. A power of two, as
         * numbers of devices are.
         */
        private double atOnce() {
            double each = sum.transfers() / Math.max(1, sum.tokens()) * requestTokens / requests;
            return each <= 1 ? 1 : Math.pow(2, Math.rint(Math.log(each) / Math.log(2)));
        }

        synchronized Known known() {
            return samples < ENOUGH || sum.tokens() == 0
                    ? Known.NOTHING
                    : new Known(sum.tokens(), sum.bytes(), new EnumMap<>(links));
        }
    }
}
