package io.warmpath.session.pin;

import io.warmpath.load.PromptBlocks;
import io.warmpath.session.SessionKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which rank keeps which prefix, for whom, and until when.
 *
 * <p>A prefix is known by the keyed name of its last complete block, which stands for all blocks
 * before it, too: prompts of another model or tenant have other names, so nobody meets another's
 * pins. A pin that goes on where an older one of the same rank ends takes its place once it is
 * granted, unless the older one lasts longer.
 *
 * <p>Any thread; short critical sections, but for {@link #expire}, {@link #list} and {@link
 * #workerLeft}, which look at every pin. Asking for holders costs a look-up for each length that
 * some pin has, and nothing while a scope has none.
 */
public final class PinLedger {
    /**
     * @param max pins at once
     * @param maxTokens of the prompts of all pins
     * @param tenantMax of one tenant
     * @param tenantTokens of the prompts of one tenant's pins
     */
    public record Options(int max, long maxTokens, int tenantMax, long tenantTokens) {
        public Options {
            if (max < 1 || maxTokens < 1 || tenantMax < 1 || tenantTokens < 1) {
                throw new IllegalArgumentException(
                        max + ", " + maxTokens + ", " + tenantMax + ", " + tenantTokens);
            }
        }
    }

    /** A rank that keeps the first {@code blocks} of the prompt that was asked about. */
    public record Holder(long worker, int dpRank, int blocks, long pin) {}

    private static final class Entry {
        private Pin pin;

        /** What it takes the place of once it is granted. */
        private List<Long> instead;

        Entry(Pin pin, List<Long> instead) {
            this.pin = pin;
            this.instead = instead;
        }
    }

    private static final class Tally {
        private int pins;
        private long tokens;
    }

    private final Options options;
    private final long secret;
    private final LongSupplier millis;

    // All guarded by this.
    private final Map<Long, Entry> byNumber = new LinkedHashMap<>();
    private final Map<Long, List<Entry>> byName = new HashMap<>();
    private final Map<SessionKey.Scope, Integer> scopes = new HashMap<>();
    private final Map<String, Tally> tenants = new HashMap<>();

    /** By block size: how many pins have a length. */
    private final Map<Integer, NavigableMap<Integer, Integer>> lengths = new HashMap<>();

    private long last;
    private long tokens;
    private long hits;
    private long hitTokens;

    private long version;

    private volatile int size;

    /**
     * @param kept what an earlier process kept
     * @param millis since 1970, as the pins outlive the process
     */
    public PinLedger(Options options, PinFile.Content kept, LongSupplier millis) {
        this.options = options;
        this.secret = kept.secret();
        this.millis = millis;
        long now = millis.getAsLong();
        for (Pin p : kept.pins()) {
            last = Math.max(last, p.number());
            if (p.held() && p.expiresMillis() > now && byNumber.size() < options.max()) {
                put(new Entry(p, List.of()));
            }
        }
    }

    /** What the names of a prompt's blocks have to be made with. */
    public long seed(SessionKey.Scope scope, String lora) {
        return PromptBlocks.seed(secret, scope.model(), lora + '\0' + scope.tenant());
    }

    /** Somebody may hold a pin of such a prompt. */
    public boolean any(SessionKey.Scope scope) {
        if (size == 0) {
            return false;
        }
        synchronized (this) {
            return scopes.containsKey(scope);
        }
    }

    /** Keeps room for a pin that is to be asked for. */
    public synchronized PinOffer.Taken offer(PinOffer o) {
        long now = millis.getAsLong();
        long expires = now + o.ttlSeconds() * 1000L;
        List<Entry> instead = new ArrayList<>();
        for (int blocks : lengths(o.blockSize(), o.chain().length)) {
            for (Entry e : byName.getOrDefault(o.chain()[blocks - 1], List.of())) {
                Pin p = e.pin;
                if (!on(p, o) || p.blocks() != blocks) {
                    continue;
                }
                if (blocks == o.chain().length && p.expiresMillis() >= expires) {
                    return new PinOffer.Taken.Covered(p.number());
                }
                if (p.expiresMillis() <= expires) {
                    instead.add(e);
                }
            }
        }
        long freed = instead.stream().mapToLong(e -> e.pin.tokens()).sum();
        Tally tally = tenants.getOrDefault(o.scope().tenant(), new Tally());
        if (tally.pins - instead.size() >= options.tenantMax()) {
            return new PinOffer.Taken.Refused("the tenant has " + tally.pins + " pins");
        }
        if (tally.tokens - freed + o.tokens() > options.tenantTokens()) {
            return new PinOffer.Taken.Refused("the tenant has pinned " + tally.tokens + " tokens");
        }
        if (byNumber.size() - instead.size() >= options.max()) {
            return new PinOffer.Taken.Refused("there are " + byNumber.size() + " pins");
        }
        if (tokens - freed + o.tokens() > options.maxTokens()) {
            return new PinOffer.Taken.Refused("pins have " + tokens + " tokens");
        }
        Pin pin =
                new Pin(
                        ++last,
                        o.worker(),
                        o.dpRank(),
                        o.scope(),
                        o.model(),
                        o.chain()[o.chain().length - 1],
                        o.blockSize(),
                        o.chain().length,
                        o.tokens(),
                        o.how(),
                        o.ttlSeconds(),
                        now,
                        expires,
                        0,
                        0,
                        "",
                        false);
        put(new Entry(pin, instead.stream().map(e -> e.pin.number()).toList()));
        return new PinOffer.Taken.Open(pin.number());
    }

    private static boolean on(Pin p, PinOffer o) {
        return p.worker() == o.worker()
                && p.dpRank() == o.dpRank()
                && p.blockSize() == o.blockSize()
                && p.scope().equals(o.scope());
    }

    /**
     * The worker keeps it from now on.
     *
     * @param nodes as it said; 0 where it says nothing
     * @param said its words, may be empty
     * @return false when it has been dropped meanwhile
     */
    public synchronized boolean confirm(long number, int nodes, String said) {
        Entry e = byNumber.get(number);
        if (e == null) {
            return false;
        }
        Pin p = e.pin;
        long expires = millis.getAsLong() + p.ttlSeconds() * 1000L;
        e.pin = held(p, expires, p.hits(), nodes, said);
        List<Long> instead = e.instead;
        e.instead = List.of();
        instead.forEach(this::drop);
        version++;
        return true;
    }

    /**
     * It is kept no longer, or was never granted.
     *
     * @return false when there is none of this number
     */
    public synchronized boolean drop(long number) {
        Entry e = byNumber.get(number);
        if (e == null) {
            return false;
        }
        remove(e);
        return true;
    }

    /**
     * Who keeps how much of this prompt: for each rank its longest pin.
     *
     * @param chain names of its complete blocks, of {@link #seed}
     */
    public synchronized List<Holder> holders(int blockSize, long[] chain) {
        List<Holder> found = new ArrayList<>(1);
        long now = millis.getAsLong();
        for (int blocks : lengths(blockSize, chain.length)) {
            for (Entry e : byName.getOrDefault(chain[blocks - 1], List.of())) {
                Pin p = e.pin;
                if (p.held()
                        && p.blocks() == blocks
                        && p.blockSize() == blockSize
                        && p.expiresMillis() > now
                        && found.stream()
                                .noneMatch(h -> h.worker == p.worker() && h.dpRank == p.dpRank())) {
                    found.add(new Holder(p.worker(), p.dpRank(), blocks, p.number()));
                }
            }
        }
        return found;
    }

    /** Lengths that pins have and this prompt may have, the longest first. */
    private Iterable<Integer> lengths(int blockSize, int most) {
        NavigableMap<Integer, Integer> all = lengths.get(blockSize);
        return all == null ? List.of() : all.headMap(most, true).descendingKeySet();
    }

    /**
     * What a request has shown of its rank's pins.
     *
     * @param pin the longest that fits its prompt; null: none does
     * @param lost it has not held, and is dropped
     */
    public record Served(@Nullable Pin pin, boolean lost) {
        static final Served NONE = new Served(null, false);
    }

    /**
     * A request was served by this rank: its pins of the prompt last anew, as they do there. Where
     * the engine reports that less was cached than the longest of them has, that one did not hold.
     *
     * @param chain names of the prompt's complete blocks, of {@link #seed}
     * @param cachedTokens as the engine reported; negative: it did not
     */
    public synchronized Served served(
            long worker, int dpRank, int blockSize, long[] chain, long cachedTokens) {
        List<Entry> fitting = new ArrayList<>(1);
        for (int blocks : lengths(blockSize, chain.length)) {
            for (Entry e : byName.getOrDefault(chain[blocks - 1], List.of())) {
                Pin p = e.pin;
                if (p.held()
                        && p.worker() == worker
                        && p.dpRank() == dpRank
                        && p.blocks() == blocks
                        && p.blockSize() == blockSize) {
                    fitting.add(e);
                }
            }
        }
        if (fitting.isEmpty()) {
            return Served.NONE;
        }
        Pin longest = fitting.getFirst().pin;
        long whole = (long) longest.blocks() * blockSize;
        // The last token of a prompt is always computed, and its block with it.
        if (cachedTokens >= 0 && cachedTokens + blockSize < whole) {
            remove(fitting.getFirst());
            return new Served(longest, true);
        }
        hits++;
        hitTokens += whole;
        long now = millis.getAsLong();
        for (Entry e : fitting) {
            Pin p = e.pin;
            long expires = Math.max(p.expiresMillis(), now + p.ttlSeconds() * 1000L);
            long hit = p.hits() + (p.number() == longest.number() ? 1 : 0);
            e.pin = held(p, expires, hit, p.nodes(), p.said());
        }
        version++;
        return new Served(longest, false);
    }

    /**
     * Forgets what is over.
     *
     * @return how many
     */
    public synchronized int expire() {
        long now = millis.getAsLong();
        return removeIf(p -> p.expiresMillis() <= now);
    }

    /** The worker is gone, or came back empty. */
    public synchronized int workerLeft(long worker) {
        return removeIf(p -> p.worker() == worker);
    }

    private int removeIf(Predicate<Pin> over) {
        List<Entry> gone = new ArrayList<>();
        for (Entry e : byNumber.values()) {
            if (over.test(e.pin)) {
                gone.add(e);
            }
        }
        gone.forEach(this::remove);
        return gone.size();
    }

    public synchronized @Nullable Pin find(long number) {
        Entry e = byNumber.get(number);
        return e == null ? null : e.pin;
    }

    /** The first of them, in the order in which they were asked for. */
    public synchronized List<Pin> list(int limit) {
        List<Pin> pins = new ArrayList<>(Math.min(limit, byNumber.size()));
        Iterator<Entry> all = byNumber.values().iterator();
        while (all.hasNext() && pins.size() < limit) {
            pins.add(all.next().pin);
        }
        return pins;
    }

    /** What a later process goes on with. */
    public PinFile.Content content() {
        return new PinFile.Content(secret, list(Integer.MAX_VALUE));
    }

    public int size() {
        return size;
    }

    /** Another one after every change of what {@link #content} has. */
    public synchronized long version() {
        return version;
    }

    /** Of the prompts of all pins. */
    public synchronized long tokens() {
        return tokens;
    }

    /** Requests that were served by a pin. */
    public synchronized long hits() {
        return hits;
    }

    /** Tokens that these pins kept for them. */
    public synchronized long hitTokens() {
        return hitTokens;
    }

    private void put(Entry e) {
        Pin p = e.pin;
        byNumber.put(p.number(), e);
        byName.computeIfAbsent(p.name(), n -> new ArrayList<>(1)).add(e);
        scopes.merge(p.scope(), 1, Integer::sum);
        lengths.computeIfAbsent(p.blockSize(), b -> new TreeMap<>())
                .merge(p.blocks(), 1, Integer::sum);
        Tally tally = tenants.computeIfAbsent(p.scope().tenant(), t -> new Tally());
        tally.pins++;
        tally.tokens += p.tokens();
        tokens += p.tokens();
        size = byNumber.size();
        version++;
    }

    private void remove(Entry e) {
        Pin p = e.pin;
        byNumber.remove(p.number());
        byName.computeIfPresent(
                p.name(), (n, same) -> same.remove(e) && same.isEmpty() ? null : same);
        scopes.computeIfPresent(p.scope(), (s, n) -> n == 1 ? null : n - 1);
        lengths.computeIfPresent(
                p.blockSize(),
                (b, all) -> {
                    all.computeIfPresent(p.blocks(), (l, n) -> n == 1 ? null : n - 1);
                    return all.isEmpty() ? null : all;
                });
        Tally tally = tenants.get(p.scope().tenant());
        if (tally != null) {
            tally.pins--;
            tally.tokens -= p.tokens();
            if (tally.pins == 0) {
                tenants.remove(p.scope().tenant());
            }
        }
        tokens -= p.tokens();
        size = byNumber.size();
        version++;
    }

    private static Pin held(Pin p, long expires, long hits, int nodes, String said) {
        return new Pin(
                p.number(),
                p.worker(),
                p.dpRank(),
                p.scope(),
                p.model(),
                p.name(),
                p.blockSize(),
                p.blocks(),
                p.tokens(),
                p.how(),
                p.ttlSeconds(),
                p.madeMillis(),
                expires,
                hits,
                nodes,
                said,
                true);
    }
}
