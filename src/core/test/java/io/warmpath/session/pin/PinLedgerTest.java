package io.warmpath.session.pin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.PinSupport;
import io.warmpath.load.PromptBlocks;
import io.warmpath.session.SessionKey;
import io.warmpath.session.pin.PinLedger.Holder;
import io.warmpath.session.pin.PinOffer.Taken;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PinLedgerTest {
    private static final int BLOCK = 16;
    private static final SessionKey.Scope ACME = new SessionKey.Scope("m", "acme");
    private static final SessionKey.Scope OTHER = new SessionKey.Scope("m", "other");

    private final AtomicLong clock = new AtomicLong(1_000_000);

    private PinLedger ledger(int max, long maxTokens, int tenantMax, long tenantTokens) {
        return new PinLedger(
                new PinLedger.Options(max, maxTokens, tenantMax, tenantTokens),
                new PinFile.Content(7, List.of()),
                clock::get);
    }

    private PinLedger ledger() {
        return ledger(100, 1 << 20, 100, 1 << 20);
    }

    /** The prompt of this many blocks of a conversation. */
    private static long[] chain(PinLedger ledger, SessionKey.Scope scope, int talk, int blocks) {
        int[] ids = new int[blocks * BLOCK];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = i < 2 * BLOCK ? i : talk * 10_000 + i; // all talks begin alike
        }
        return PromptBlocks.of(ids, BLOCK, ledger.seed(scope, "")).chain();
    }

    private static PinOffer offer(SessionKey.Scope scope, long worker, long[] chain, int ttl) {
        return new PinOffer(
                worker, 0, scope, "m", chain, BLOCK, chain.length * BLOCK, PinSupport.RPC, ttl);
    }

    private static long hold(PinLedger ledger, PinOffer offer) {
        long pin = assertInstanceOf(Taken.Open.class, ledger.offer(offer)).number();
        assertTrue(ledger.confirm(pin, 3, ""));
        return pin;
    }

    @Test
    void a_longer_prompt_finds_who_keeps_its_beginning() {
        PinLedger ledger = ledger();
        long pin = hold(ledger, offer(ACME, 1, chain(ledger, ACME, 5, 10), 300));
        long[] next = chain(ledger, ACME, 5, 14);
        assertEquals(List.of(new Holder(1, 0, 10, pin)), ledger.holders(BLOCK, next));
        assertEquals(List.of(), ledger.holders(BLOCK, chain(ledger, ACME, 5, 9)), "shorter");
        assertEquals(List.of(), ledger.holders(BLOCK, chain(ledger, ACME, 6, 14)), "another");
    }

    @Test
    void nobody_meets_another_tenants_pin() {
        PinLedger ledger = ledger();
        hold(ledger, offer(ACME, 1, chain(ledger, ACME, 5, 10), 300));
        assertEquals(List.of(), ledger.holders(BLOCK, chain(ledger, OTHER, 5, 10)));
        assertTrue(ledger.any(ACME));
        assertFalse(ledger.any(OTHER));
        assertNull(ledger.served(1, 0, BLOCK, chain(ledger, OTHER, 5, 10), 160).pin());
    }

    @Test
    void a_pin_that_is_not_granted_yet_takes_room_and_is_not_relied_on() {
        PinLedger ledger = ledger(100, 1 << 20, 1, 1 << 20);
        long[] chain = chain(ledger, ACME, 5, 10);
        long pin =
                assertInstanceOf(Taken.Open.class, ledger.offer(offer(ACME, 1, chain, 300)))
                        .number();
        assertEquals(List.of(), ledger.holders(BLOCK, chain));
        assertInstanceOf(
                Taken.Refused.class, ledger.offer(offer(ACME, 1, chain(ledger, ACME, 6, 10), 300)));
        assertTrue(ledger.drop(pin));
        assertFalse(ledger.confirm(pin, 1, ""), "dropped meanwhile");
        assertEquals(0, ledger.tokens());
    }

    @Test
    void the_next_turns_pin_takes_the_place_of_the_last_ones_once_it_is_granted() {
        PinLedger ledger = ledger(100, 1 << 20, 1, 400);
        hold(ledger, offer(ACME, 1, chain(ledger, ACME, 5, 10), 300));
        PinOffer next = offer(ACME, 1, chain(ledger, ACME, 5, 20), 300);
        long pin = assertInstanceOf(Taken.Open.class, ledger.offer(next)).number();
        assertEquals(2, ledger.size(), "until then the old one counts");
        ledger.confirm(pin, 9, "");
        assertEquals(List.of(pin), ledger.list(10).stream().map(Pin::number).toList());
        assertEquals(320, ledger.tokens());
    }

    @Test
    void one_that_lasts_longer_stays_beside_a_longer_prompts() {
        PinLedger ledger = ledger();
        hold(ledger, offer(ACME, 1, chain(ledger, ACME, 5, 10), 3600));
        hold(ledger, offer(ACME, 1, chain(ledger, ACME, 5, 20), 300));
        assertEquals(2, ledger.size());
        clock.addAndGet(300_000);
        assertEquals(1, ledger.expire());
        assertEquals(10, ledger.holders(BLOCK, chain(ledger, ACME, 5, 20)).get(0).blocks());
    }

    @Test
    void the_same_prefix_again_is_covered_as_long_as_it_lasts() {
        PinLedger ledger = ledger();
        PinOffer offer = offer(ACME, 1, chain(ledger, ACME, 5, 10), 300);
        long pin = hold(ledger, offer);
        assertEquals(new Taken.Covered(pin), ledger.offer(offer));
        clock.addAndGet(1);
        assertInstanceOf(Taken.Open.class, ledger.offer(offer), "it would end before");
        assertInstanceOf(
                Taken.Open.class,
                ledger.offer(offer(ACME, 2, offer.chain(), 300)),
                "another worker's is another one");
    }

    @Test
    void a_hit_makes_it_last_anew() {
        PinLedger ledger = ledger();
        long[] chain = chain(ledger, ACME, 5, 10);
        long pin = hold(ledger, offer(ACME, 1, chain, 300));
        clock.addAndGet(299_000);
        assertFalse(ledger.served(1, 0, BLOCK, chain, 159).lost());
        clock.addAndGet(299_000);
        assertEquals(0, ledger.expire());
        assertEquals(1, ledger.holders(BLOCK, chain).size());
        assertEquals(1, ledger.find(pin).hits());
        assertEquals(1, ledger.hits());
        assertEquals(160, ledger.hitTokens());
        clock.addAndGet(1_000);
        assertEquals(List.of(), ledger.holders(BLOCK, chain), "over, though nobody tidied up");
        assertEquals(1, ledger.expire());
    }

    @Test
    void a_pin_that_did_not_hold_is_dropped() {
        PinLedger ledger = ledger();
        long[] chain = chain(ledger, ACME, 5, 10);
        hold(ledger, offer(ACME, 1, chain, 300));
        assertFalse(ledger.served(1, 0, BLOCK, chain, -1).lost(), "the engine says nothing");
        assertFalse(ledger.served(1, 0, BLOCK, chain, 144).lost(), "the last block is computed");
        assertTrue(ledger.served(1, 0, BLOCK, chain, 143).lost());
        assertEquals(0, ledger.size());
    }

    @Test
    void limits_are_named_when_they_are_reached() {
        PinLedger pins = ledger(2, 1 << 20, 100, 1 << 20);
        hold(pins, offer(ACME, 1, chain(pins, ACME, 1, 4), 300));
        hold(pins, offer(OTHER, 1, chain(pins, OTHER, 1, 4), 300));
        assertEquals(
                new Taken.Refused("there are 2 pins"),
                pins.offer(offer(ACME, 1, chain(pins, ACME, 2, 4), 300)));
        PinLedger tokens = ledger(100, 1 << 20, 100, 100);
        hold(tokens, offer(ACME, 1, chain(tokens, ACME, 1, 4), 300));
        assertEquals(
                new Taken.Refused("the tenant has pinned 64 tokens"),
                tokens.offer(offer(ACME, 1, chain(tokens, ACME, 2, 4), 300)));
        hold(tokens, offer(OTHER, 1, chain(tokens, OTHER, 2, 4), 300));
        PinLedger all = ledger(100, 100, 100, 100);
        hold(all, offer(ACME, 1, chain(all, ACME, 1, 4), 300));
        assertEquals(
                new Taken.Refused("pins have 64 tokens"),
                all.offer(offer(OTHER, 1, chain(all, OTHER, 2, 4), 300)));
    }

    @Test
    void a_worker_that_leaves_takes_its_pins_along() {
        PinLedger ledger = ledger();
        long[] chain = chain(ledger, ACME, 5, 10);
        hold(ledger, offer(ACME, 1, chain, 300));
        long stays = hold(ledger, offer(ACME, 2, chain, 300));
        assertEquals(1, ledger.workerLeft(1));
        assertEquals(List.of(new Holder(2, 0, 10, stays)), ledger.holders(BLOCK, chain));
    }

    @Test
    void a_later_process_goes_on_with_what_was_held() throws Exception {
        PinLedger before = ledger();
        long[] chain = chain(before, ACME, 5, 10);
        long pin = hold(before, offer(ACME, 1, chain, 300));
        hold(before, offer(ACME, 1, chain(before, ACME, 6, 3), 300));
        before.offer(offer(ACME, 1, chain(before, ACME, 7, 3), 300));
        clock.addAndGet(100_000);
        before.served(1, 0, BLOCK, chain, 160);
        PinFile.Content kept = PinFile.read(PinFile.write(before.content()));
        clock.addAndGet(250_000);
        PinLedger after = new PinLedger(new PinLedger.Options(9, 1000, 9, 1000), kept, clock::get);
        assertEquals(1, after.size(), "one was over, one never granted");
        assertEquals(before.find(pin), after.find(pin));
        assertEquals(1, after.holders(BLOCK, chain(after, ACME, 5, 12)).size(), "same names");
        long next =
                assertInstanceOf(
                                Taken.Open.class,
                                after.offer(offer(OTHER, 1, chain(after, OTHER, 5, 2), 300)))
                        .number();
        assertTrue(next > pin, "no number twice");
    }

    @Test
    void what_a_clock_ahead_by_a_day_has_kept_holds_for_its_time_to_live() throws Exception {
        clock.addAndGet(86_400_000);
        PinLedger before = ledger();
        hold(before, offer(ACME, 1, chain(before, ACME, 5, 10), 300));
        PinFile.Content kept = PinFile.read(PinFile.write(before.content()));
        clock.addAndGet(-86_400_000);
        PinLedger after = new PinLedger(new PinLedger.Options(9, 1000, 9, 1000), kept, clock::get);
        assertEquals(1, after.size());
        clock.addAndGet(300_000);
        after.expire();
        assertEquals(0, after.size());
    }

    /** What the ledger promises, said in the simplest way. */
    private static final class Oracle {
        final Map<Long, Pin> pins = new HashMap<>();
        final Map<Long, long[]> chains = new HashMap<>();
        final Map<Long, Set<Long>> instead = new HashMap<>();

        List<Pin> fitting(long[] chain, long now) {
            return pins.values().stream()
                    .filter(p -> p.held() && p.expiresMillis() > now)
                    .filter(p -> begins(chains.get(p.number()), chain))
                    .toList();
        }

        static boolean begins(long[] part, long[] whole) {
            return part.length <= whole.length && part[part.length - 1] == whole[part.length - 1];
        }

        long tokens(String tenant) {
            return pins.values().stream()
                    .filter(p -> p.scope().tenant().equals(tenant))
                    .mapToLong(Pin::tokens)
                    .sum();
        }
    }

    @Test
    void random_operations_agree_with_an_oracle() {
        long seed = Long.getLong("test.seed", System.nanoTime());
        Random random = new Random(seed);
        try {
            for (int round = 0; round < 40; round++) {
                compare(random);
            }
        } catch (AssertionError e) {
            throw new AssertionError("seed -Dtest.seed=" + seed + ": " + e.getMessage(), e);
        }
    }

    private void compare(Random random) {
        PinLedger ledger = ledger(30, 5_000, 12, 3_000);
        Oracle oracle = new Oracle();
        for (int step = 0; step < 400; step++) {
            SessionKey.Scope scope = random.nextBoolean() ? ACME : OTHER;
            long[] chain = chain(ledger, scope, random.nextInt(4), 1 + random.nextInt(20));
            long worker = random.nextInt(3);
            switch (random.nextInt(9)) {
                case 0, 1, 2 -> offer(ledger, oracle, scope, worker, chain, random);
                case 3, 4 -> confirmOrDrop(ledger, oracle, random);
                case 5 -> served(ledger, oracle, worker, chain, random);
                case 6 -> clock.addAndGet(random.nextInt(200_000));
                case 7 -> {
                    long now = clock.get();
                    int before = oracle.pins.size();
                    oracle.pins.values().removeIf(p -> p.expiresMillis() <= now);
                    assertEquals(before - oracle.pins.size(), ledger.expire());
                }
                default -> {
                    if (random.nextInt(10) == 0) {
                        oracle.pins.values().removeIf(p -> p.worker() == worker);
                        ledger.workerLeft(worker);
                    }
                }
            }
            check(ledger, oracle, chain);
        }
    }

    private void offer(
            PinLedger ledger,
            Oracle oracle,
            SessionKey.Scope scope,
            long worker,
            long[] chain,
            Random random) {
        int ttl = random.nextBoolean() ? 300 : 600;
        PinOffer offer = offer(scope, worker, chain, ttl);
        long expires = clock.get() + ttl * 1000L;
        List<Pin> same =
                oracle.pins.values().stream()
                        .filter(p -> p.worker() == worker && p.scope().equals(scope))
                        .filter(p -> Oracle.begins(oracle.chains.get(p.number()), chain))
                        .toList();
        boolean covered =
                same.stream()
                        .anyMatch(p -> p.blocks() == chain.length && p.expiresMillis() >= expires);
        Taken taken = ledger.offer(offer);
        if (covered) {
            assertInstanceOf(Taken.Covered.class, taken);
            return;
        }
        List<Pin> gone = same.stream().filter(p -> p.expiresMillis() <= expires).toList();
        long freed = gone.stream().mapToLong(Pin::tokens).sum();
        long ofTenant =
                oracle.pins.values().stream()
                        .filter(p -> p.scope().tenant().equals(scope.tenant()))
                        .count();
        long all = oracle.tokens(ACME.tenant()) + oracle.tokens(OTHER.tenant());
        boolean room =
                ofTenant - gone.size() < 12
                        && oracle.tokens(scope.tenant()) - freed + offer.tokens() <= 3_000
                        && oracle.pins.size() - gone.size() < 30
                        && all - freed + offer.tokens() <= 5_000;
        assertEquals(room, taken instanceof Taken.Open, () -> taken.toString());
        if (taken instanceof Taken.Open open) {
            oracle.pins.put(open.number(), ledger.find(open.number()));
            oracle.chains.put(open.number(), chain);
            Set<Long> numbers = new HashSet<>();
            gone.forEach(p -> numbers.add(p.number()));
            oracle.instead.put(open.number(), numbers);
        }
    }

    private static void confirmOrDrop(PinLedger ledger, Oracle oracle, Random random) {
        List<Long> numbers = new ArrayList<>(oracle.pins.keySet());
        if (numbers.isEmpty()) {
            return;
        }
        long number = numbers.get(random.nextInt(numbers.size()));
        if (random.nextInt(3) == 0) {
            oracle.pins.remove(number);
            assertTrue(ledger.drop(number));
        } else {
            assertTrue(ledger.confirm(number, 1, ""));
            oracle.pins.put(number, ledger.find(number));
            Set<Long> instead = oracle.instead.remove(number);
            oracle.pins.keySet().removeAll(instead == null ? Set.of() : instead);
        }
    }

    private void served(PinLedger ledger, Oracle oracle, long worker, long[] chain, Random random) {
        // Also those that are over and not tidied up: the engine's clock is not ours.
        List<Pin> fitting =
                oracle.fitting(chain, 0).stream().filter(p -> p.worker() == worker).toList();
        int longest = fitting.stream().mapToInt(Pin::blocks).max().orElse(0);
        long cached = random.nextInt(4) == 0 ? 0 : random.nextBoolean() ? -1 : longest * BLOCK;
        PinLedger.Served served = ledger.served(worker, 0, BLOCK, chain, cached);
        assertEquals(longest, served.pin() == null ? 0 : served.pin().blocks());
        boolean lost = cached == 0 && longest > 1;
        assertEquals(lost, served.lost());
        if (lost) {
            oracle.pins.remove(served.pin().number());
        } else {
            fitting.forEach(p -> oracle.pins.put(p.number(), ledger.find(p.number())));
            for (Pin p : fitting) {
                assertTrue(
                        oracle.pins.get(p.number()).expiresMillis()
                                >= clock.get() + p.ttlSeconds() * 1000L);
            }
        }
    }

    private void check(PinLedger ledger, Oracle oracle, long[] chain) {
        assertEquals(oracle.pins.size(), ledger.size());
        assertEquals(
                oracle.pins.keySet(),
                new HashSet<>(ledger.list(1000).stream().map(Pin::number).toList()));
        assertEquals(oracle.tokens(ACME.tenant()) + oracle.tokens(OTHER.tenant()), ledger.tokens());
        Map<Long, Integer> longest = new HashMap<>();
        oracle.fitting(chain, clock.get())
                .forEach(p -> longest.merge(p.worker(), p.blocks(), Math::max));
        List<Holder> holders = new ArrayList<>(ledger.holders(BLOCK, chain));
        holders.sort(Comparator.comparingLong(Holder::worker));
        Map<Long, Integer> told = new HashMap<>();
        holders.forEach(h -> told.put(h.worker(), h.blocks()));
        assertEquals(longest, told);
        assertEquals(holders.size(), told.size(), "one a rank");
    }
}
