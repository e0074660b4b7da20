package io.warmpath.session.pin;

import io.warmpath.load.PromptBlocks;
import io.warmpath.session.SessionKey;
import java.util.ArrayList;
import java.util.List;
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

    private final long secret;
    private final LongSupplier millis;

    // All guarded by this.
    private final PinIndex pins = new PinIndex();
    private final PinQuotas quotas;
    private long last;
    private long hits;
    private long hitTokens;

    private long version;

    private volatile int size;

    /**
     * @param kept what an earlier process kept
     * @param millis since 1970, as the pins outlive the process; of a clock that does not jump.
     *     What was kept holds for its time to live at most, whatever clock it was written by
     */
    public PinLedger(Options options, PinFile.Content kept, LongSupplier millis) {
        this.quotas = new PinQuotas(options);
        this.secret = kept.secret();
        this.millis = millis;
        long now = millis.getAsLong();
        for (Pin p : kept.pins()) {
            last = Math.max(last, p.number());
            if (p.held() && p.expiresMillis() > now && pins.size() < options.max()) {
                long most = Math.min(p.expiresMillis(), now + p.ttlSeconds() * 1000L);
                put(
                        new PinIndex.Entry(
                                p.heldUntil(most, p.hits(), p.nodes(), p.said()), List.of()));
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
            return pins.has(scope);
        }
    }

    /** Keeps room for a pin that is to be asked for. */
    public synchronized PinOffer.Taken offer(PinOffer o) {
        long now = millis.getAsLong();
        long expires = now + o.ttlSeconds() * 1000L;
        List<PinIndex.Entry> instead = new ArrayList<>();
        for (PinIndex.Entry e : pins.along(o.blockSize(), o.chain())) {
            Pin p = e.pin();
            if (!on(p, o)) {
                continue;
            }
            if (p.blocks() == o.chain().length && p.expiresMillis() >= expires) {
                return new PinOffer.Taken.Covered(p.number());
            }
            if (p.expiresMillis() <= expires) {
                instead.add(e);
            }
        }
        long freed = instead.stream().mapToLong(e -> e.pin().tokens()).sum();
        String full = quotas.refusal(o.scope().tenant(), o.tokens(), instead.size(), freed);
        if (full != null) {
            return new PinOffer.Taken.Refused(full);
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
        put(new PinIndex.Entry(pin, instead.stream().map(e -> e.pin().number()).toList()));
        return new PinOffer.Taken.Open(pin.number());
    }

    private static boolean on(Pin p, PinOffer o) {
        return p.worker() == o.worker() && p.dpRank() == o.dpRank() && p.scope().equals(o.scope());
    }

    /**
     * The worker keeps it from now on.
     *
     * @param nodes as it said; 0 where it says nothing
     * @param said its words, may be empty
     * @return false when it has been dropped meanwhile
     */
    public synchronized boolean confirm(long number, int nodes, String said) {
        PinIndex.Entry e = pins.get(number);
        if (e == null) {
            return false;
        }
        Pin p = e.pin();
        long expires = millis.getAsLong() + p.ttlSeconds() * 1000L;
        e.now(p.heldUntil(expires, p.hits(), nodes, said));
        e.takeInstead().forEach(this::drop);
        version++;
        return true;
    }

    /**
     * It is kept no longer, or was never granted.
     *
     * @return false when there is none of this number
     */
    public synchronized boolean drop(long number) {
        PinIndex.Entry e = pins.get(number);
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
        for (PinIndex.Entry e : pins.along(blockSize, chain)) {
            Pin p = e.pin();
            if (p.held()
                    && p.expiresMillis() > now
                    && found.stream()
                            .noneMatch(h -> h.worker == p.worker() && h.dpRank == p.dpRank())) {
                found.add(new Holder(p.worker(), p.dpRank(), p.blocks(), p.number()));
            }
        }
        return found;
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
        List<PinIndex.Entry> fitting = new ArrayList<>(1);
        for (PinIndex.Entry e : pins.along(blockSize, chain)) {
            Pin p = e.pin();
            if (p.held() && p.worker() == worker && p.dpRank() == dpRank) {
                fitting.add(e);
            }
        }
        if (fitting.isEmpty()) {
            return Served.NONE;
        }
        Pin longest = fitting.getFirst().pin();
        long whole = (long) longest.blocks() * blockSize;
        // The last token of a prompt is always computed, and its block with it.
        if (cachedTokens >= 0 && cachedTokens + blockSize < whole) {
            remove(fitting.getFirst());
            return new Served(longest, true);
        }
        hits++;
        hitTokens += whole;
        long now = millis.getAsLong();
        for (PinIndex.Entry e : fitting) {
            Pin p = e.pin();
            long expires = Math.max(p.expiresMillis(), now + p.ttlSeconds() * 1000L);
            long hit = p.hits() + (p.number() == longest.number() ? 1 : 0);
            e.now(p.heldUntil(expires, hit, p.nodes(), p.said()));
        }
        version++;
        return new Served(longest, false);
    }

    /** Forgets what is over. Returns how many. */
    public synchronized int expire() {
        long now = millis.getAsLong();
        return removeIf(p -> p.expiresMillis() <= now);
    }

    /** The worker is gone, or came back empty. */
    public synchronized int workerLeft(long worker) {
        return removeIf(p -> p.worker() == worker);
    }

    private int removeIf(Predicate<Pin> over) {
        List<PinIndex.Entry> gone = new ArrayList<>();
        for (PinIndex.Entry e : pins.all()) {
            if (over.test(e.pin())) {
                gone.add(e);
            }
        }
        gone.forEach(this::remove);
        return gone.size();
    }

    public synchronized @Nullable Pin find(long number) {
        PinIndex.Entry e = pins.get(number);
        return e == null ? null : e.pin();
    }

    /** The first of them, in the order in which they were asked for. */
    public synchronized List<Pin> list(int limit) {
        return pins.all().stream().limit(limit).map(PinIndex.Entry::pin).toList();
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
        return quotas.tokens();
    }

    /** Requests that were served by a pin. */
    public synchronized long hits() {
        return hits;
    }

    /** Tokens that these pins kept for them. */
    public synchronized long hitTokens() {
        return hitTokens;
    }

    private void put(PinIndex.Entry e) {
        pins.put(e);
        quotas.add(e.pin());
        size = pins.size();
        version++;
    }

    private void remove(PinIndex.Entry e) {
        pins.remove(e);
        quotas.remove(e.pin());
        size = pins.size();
        version++;
    }
}
