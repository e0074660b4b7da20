package io.warmpath.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whose turn it is among tenants of one class. */
class FairQueueTest {
    private final FairQueue queue = new FairQueue();
    private final Map<Ticket, String> names = new HashMap<>();
    private long number;

    private static Tenant tenant(String name) {
        return new Tenant(name, 1);
    }

    private Ticket ticket(Tenant tenant, int tokens) {
        Claim claim = new Claim(tenant, "", tokens, 0, 0, 0, () -> null);
        return new Ticket(claim, 0, number, 0, number++, () -> {});
    }

    /** Comes and waits; is named by its tenant and its number among all, from 0. */
    private Ticket add(Tenant tenant, int tokens) {
        Ticket ticket = ticket(tenant, tokens);
        names.put(ticket, tenant.name() + names.size());
        queue.add(ticket);
        return ticket;
    }

    private String next() {
        Ticket next = queue.next(t -> true);
        if (next == null) {
            return "";
        }
        queue.take(next);
        return names.getOrDefault(next, "?");
    }

    private List<String> next(int count) {
        List<String> order = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            order.add(next());
        }
        return order;
    }

    @Test
    void who_comes_late_and_seldom_does_not_wait_behind_who_sends_most() {
        for (int i = 0; i < 6; i++) {
            add(tenant("hog"), 100);
        }
        assertEquals(List.of("hog0", "hog1"), next(2));
        add(tenant("a"), 100);
        add(tenant("b"), 100);
        // now is 100, the hog's tag 200: the two others are before it, and then all take turns
        assertEquals(List.of("a6", "b7", "hog2", "hog3"), next(4));
    }

    @Test
    void tenants_share_by_weight_and_by_work() {
        Tenant heavy = new Tenant("h", 3);
        for (int i = 0; i < 6; i++) {
            add(heavy, 300); // a step of 100
        }
        for (int i = 0; i < 3; i++) {
            add(tenant("l"), 300); // a step of 300
        }
        for (int i = 0; i < 3; i++) {
            add(tenant("s"), 150); // half the work, twice the requests
        }
        assertEquals(
                List.of("h0", "l6", "s9", "h1", "s10", "h2", "h3", "l7", "s11", "h4", "h5", "l8"),
                next(12));
    }

    @Test
    void priority_orders_a_tenants_own_requests_and_passes_no_other_tenant() {
        add(tenant("a"), 100);
        Claim urgent = new Claim(tenant("b"), "", 100, 0, 1e9, 9, () -> null);
        add(tenant("b"), 100);
        Ticket first = new Ticket(urgent, 0, number, 1e9, number++, () -> {});
        queue.add(first);
        names.put(first, "urgent");
        assertEquals(List.of("a0", "urgent", "b1"), next(3));
    }

    @Test
    void a_pause_keeps_the_debt_and_saves_nothing_up() {
        add(tenant("other"), 100);
        add(tenant("other"), 100);
        add(tenant("other"), 100);
        add(tenant("other"), 100);
        add(tenant("a"), 250);
        assertEquals(List.of("other0", "a4"), next(2)); // a's tag: 250
        add(tenant("late"), 100);
        add(tenant("late"), 100);
        add(tenant("a"), 100);
        // late begins at now, 0, and not before; other is at 100, a at 250
        assertEquals(List.of("late5", "other1", "late6", "other2", "a7", "other3"), next(6));
        assertEquals("", next());
    }

    @Test
    void an_answer_is_charged_when_it_has_ended_and_only_while_somebody_waits() {
        queue.used(tenant("a"), 1_000_000);
        for (int i = 0; i < 3; i++) {
            add(tenant("a"), 100);
            add(tenant("b"), 100);
        }
        assertEquals(List.of("a0", "b1"), next(2));
        queue.used(tenant("a"), 150); // its tag: 250, b's 100
        assertEquals(List.of("b3", "b5", "a2", "a4"), next(4));
        queue.forget();
        add(tenant("a"), 100);
        queue.forget(); // somebody waits: means nothing
        add(tenant("b"), 100);
        assertEquals(List.of("a6", "b7"), next(2));
    }

    @Test
    void who_can_only_go_where_all_is_full_holds_nobody_back() {
        add(tenant("bound"), 100);
        add(tenant("b"), 100);
        Ticket next = queue.next(t -> !t.claim.tenant().name().equals("bound"));
        assertEquals("b1", names.get(next));
        int[] asked = {0};
        for (int i = 0; i < 40; i++) {
            add(tenant("t" + i), 100);
        }
        assertNull(
                queue.next(
                        t -> {
                            asked[0]++;
                            return false;
                        }));
        assertEquals(16, asked[0]);
    }

    @Test
    void a_request_that_leaves_charges_nobody() {
        Ticket leaves = add(tenant("a"), 1_000);
        add(tenant("a"), 100);
        add(tenant("b"), 100);
        assertTrue(queue.remove(leaves));
        assertFalse(queue.remove(leaves));
        assertFalse(queue.remove(ticket(tenant("nobody"), 1)));
        assertEquals(List.of("a1", "b2"), next(2));
    }

    @Test
    void how_tenants_stand() {
        add(new Tenant("a", 3), 100);
        add(new Tenant("a", 3), 100);
        add(tenant("b"), 100);
        next();
        queue.refused(tenant("b"));
        assertEquals(
                List.of(
                        new TenantShare("a", 3, 0.75, 1, 9, 1, 0),
                        new TenantShare("b", 1, 0.25, 1, 8, 0, 1)),
                queue.shares(5, 10));
        assertEquals(1, queue.shares(1, 10).size());
        assertEquals(2, queue.tenants());
    }

    @Test
    void debts_are_bounded_and_paid_ones_are_forgotten() {
        add(tenant("waits"), 1);
        for (int i = 0; i < FairQueue.MOST_DEBTORS + 50; i++) {
            queue.used(tenant("t" + i), 10);
        }
        assertEquals(FairQueue.MOST_DEBTORS + 1, queue.shares(Integer.MAX_VALUE, 0).size());
        add(tenant("waits"), 20);
        add(tenant("waits"), 1);
        next(2); // now is 1
        assertEquals(FairQueue.MOST_DEBTORS + 1, queue.shares(Integer.MAX_VALUE, 0).size());
        add(tenant("waits"), 1);
        next(); // now is 21
        assertEquals(1, queue.shares(Integer.MAX_VALUE, 0).size());
    }

    /** The rule as its sentence says it: lists, and everybody is looked at each time. */
    private static final class Plain {
        final List<Ticket> waiting = new ArrayList<>();
        final Map<String, Double> tags = new HashMap<>();
        final Map<String, Integer> order = new HashMap<>();
        double now;
        int numbers;

        private boolean waits(String tenant) {
            return waiting.stream().anyMatch(t -> t.claim.tenant().name().equals(tenant));
        }

        void tidy() {
            Set<String> known = new HashSet<>(tags.keySet());
            for (String t : known) {
                if (!waits(t) && tags.getOrDefault(t, 0.0) <= now) {
                    tags.remove(t);
                    order.remove(t);
                }
            }
        }

        private void lift(String tenant, double by) {
            order.computeIfAbsent(tenant, t -> numbers++);
            tags.merge(tenant, now, Math::max);
            tags.merge(tenant, by, Double::sum);
        }

        void add(Ticket t) {
            lift(t.claim.tenant().name(), 0);
            waiting.add(t);
        }

        void used(Tenant tenant, long work) {
            if (!waiting.isEmpty()) {
                lift(tenant.name(), (double) work / tenant.weight());
                tidy();
            }
        }

        void forget() {
            if (waiting.isEmpty()) {
                tags.clear();
                order.clear();
                now = 0;
            }
        }

        @Nullable Ticket next(String closed) {
            Ticket next =
                    waiting.stream()
                            .filter(t -> !t.claim.tenant().name().equals(closed))
                            .min(
                                    Comparator.comparingDouble(
                                                    (Ticket t) ->
                                                            tags.getOrDefault(
                                                                    t.claim.tenant().name(), 0.0))
                                            .thenComparingInt(
                                                    t ->
                                                            order.getOrDefault(
                                                                    t.claim.tenant().name(), 0))
                                            .thenComparing(t -> t))
                            .orElse(null);
            if (next != null) {
                String tenant = next.claim.tenant().name();
                now = Math.max(now, tags.getOrDefault(tenant, 0.0));
                waiting.remove(next);
                tags.merge(
                        tenant,
                        (double) next.claim.cost() / next.claim.tenant().weight(),
                        Double::sum);
                tidy();
            }
            return next;
        }
    }

    @Test
    void the_order_is_that_of_the_plain_rule() {
        for (int round = 0; round < 200; round++) {
            long seed = System.nanoTime() + round;
            SplittableRandom random = new SplittableRandom(seed);
            FairQueue fast = new FairQueue();
            Plain plain = new Plain();
            int tenants = 1 + random.nextInt(6);
            for (int step = 0; step < 300; step++) {
                int which = random.nextInt(tenants);
                Tenant tenant = new Tenant("t" + which, 1 + which % 3);
                String at = "seed " + seed + " step " + step;
                switch (random.nextInt(7)) {
                    case 0, 1, 2 -> {
                        Ticket t = ticket(tenant, random.nextInt(500));
                        fast.add(t);
                        plain.add(t);
                    }
                    case 3 -> {
                        fast.used(tenant, 100);
                        plain.used(tenant, 100);
                    }
                    case 4 -> {
                        fast.forget();
                        plain.forget();
                    }
                    case 5 -> {
                        if (!plain.waiting.isEmpty()) {
                            Ticket t = plain.waiting.remove(random.nextInt(plain.waiting.size()));
                            plain.tidy();
                            assertTrue(fast.remove(t), at);
                        }
                    }
                    default -> {
                        String closed = "t" + random.nextInt(tenants * 2);
                        Ticket expected = plain.next(closed);
                        Ticket actual = fast.next(t -> !t.claim.tenant().name().equals(closed));
                        assertEquals(expected, actual, at);
                        if (actual != null) {
                            fast.take(actual);
                        }
                    }
                }
                assertEquals(plain.waiting.size(), fast.size(), at);
            }
        }
    }
}
