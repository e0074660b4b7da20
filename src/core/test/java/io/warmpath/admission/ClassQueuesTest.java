package io.warmpath.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.admission.PolicyClass.Threshold;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Order inside a class, shares between classes. */
class ClassQueuesTest {
    private long number;

    private static PolicyClass policy(String name, QueuePolicy policy, long quantum) {
        return new PolicyClass(name, name, "", policy, quantum, Threshold.NEVER, 3, 100, 50);
    }

    private Ticket ticket(
            int policyClass,
            QueuePolicy policy,
            long arrived,
            int tokens,
            double priority,
            int strict) {
        Claim claim = new Claim(Tenant.NOBODY, "", tokens, 0, priority, strict, () -> null);
        double key = policy.key(priority, (double) arrived, claim.uncachedTokens());
        return new Ticket(claim, policyClass, arrived, key, number++, () -> {});
    }

    private static List<Long> order(ClassQueues queues) {
        List<Long> arrivals = new ArrayList<>();
        for (Ticket t = queues.next(x -> true); t != null; t = queues.next(x -> true)) {
            arrivals.add(t.arrivedNanos());
        }
        return arrivals;
    }

    @Test
    void first_come_first_served_and_a_point_of_priority_is_a_second() {
        ClassQueues q = new ClassQueues(List.of(policy("a", QueuePolicy.FCFS, 100)));
        q.add(ticket(0, QueuePolicy.FCFS, 10, 5, 0, 0));
        q.add(ticket(0, QueuePolicy.FCFS, 12, 5, 3, 0)); // as if it came at 9
        q.add(ticket(0, QueuePolicy.FCFS, 11, 5, 0, 0));
        q.add(ticket(0, QueuePolicy.FCFS, 8, 5, -4, 0)); // as if it came at 12
        assertEquals(List.of(12L, 10L, 11L, 8L), order(q));
    }

    @Test
    void least_work_first_and_priority_multiplies() {
        ClassQueues q = new ClassQueues(List.of(policy("a", QueuePolicy.WSPT, 100)));
        q.add(ticket(0, QueuePolicy.WSPT, 1, 400, 0, 0)); // 1/400
        q.add(ticket(0, QueuePolicy.WSPT, 2, 100, 0, 0)); // 1/100
        q.add(ticket(0, QueuePolicy.WSPT, 3, 1000, 19, 0)); // 20/1000
        assertEquals(List.of(3L, 2L, 1L), order(q));
    }

    @Test
    void strict_priority_goes_before_everything() {
        ClassQueues q = new ClassQueues(List.of(policy("a", QueuePolicy.FCFS, 100)));
        q.add(ticket(0, QueuePolicy.FCFS, 1, 5, 1000, 0));
        q.add(ticket(0, QueuePolicy.FCFS, 2, 5, 0, 1));
        q.add(ticket(0, QueuePolicy.FCFS, 3, 5, 0, 2));
        assertEquals(List.of(3L, 2L, 1L), order(q));
    }

    /** Quanta 3 : 1 and equal requests: three of the one for each of the other. */
    @Test
    void classes_share_by_their_quanta() {
        ClassQueues q =
                new ClassQueues(
                        List.of(
                                policy("a", QueuePolicy.FCFS, 300),
                                policy("b", QueuePolicy.FCFS, 100)));
        for (int i = 0; i < 6; i++) {
            q.add(ticket(0, QueuePolicy.FCFS, i, 100, 0, 0));
            q.add(ticket(1, QueuePolicy.FCFS, 10 + i, 100, 0, 0));
        }
        assertEquals(List.of(0L, 1L, 2L, 10L, 3L, 4L, 5L, 11L, 12L, 13L, 14L, 15L), order(q));
    }

    /** A request of 1,000 against a quantum of 100 waits while the other class starts 1,000. */
    @Test
    void a_large_request_saves_up_for_its_start() {
        ClassQueues q =
                new ClassQueues(
                        List.of(
                                policy("a", QueuePolicy.FCFS, 100),
                                policy("b", QueuePolicy.FCFS, 100)));
        q.add(ticket(0, QueuePolicy.FCFS, 99, 1000, 0, 0));
        for (int i = 0; i < 12; i++) {
            q.add(ticket(1, QueuePolicy.FCFS, i, 100, 0, 0));
        }
        List<Long> order = order(q);
        assertEquals(9, order.indexOf(99L), order.toString());
    }

    @Test
    void limits_count_what_waits() {
        ClassQueues q = new ClassQueues(List.of(policy("a", QueuePolicy.FCFS, 100)));
        Ticket first = ticket(0, QueuePolicy.FCFS, 1, 90, 0, 0);
        q.add(first);
        Claim more = new Claim(Tenant.NOBODY, "", 20, 0, 0, 0, () -> null);
        assertEquals("prompt tokens", q.overLimit(0, more, 1));
        assertNull(q.overLimit(0, more, 2));
        assertEquals(
                "cached tokens",
                q.overLimit(0, new Claim(Tenant.NOBODY, "", 10, 51, 0, 0, () -> null), 1));
        q.add(ticket(0, QueuePolicy.FCFS, 2, 1, 0, 0));
        q.add(ticket(0, QueuePolicy.FCFS, 3, 1, 0, 0));
        assertEquals("requests", q.overLimit(0, more, 1));
        assertTrue(q.remove(first));
        assertFalse(q.remove(first));
        assertNull(q.overLimit(0, more, 1));
    }

    /**
     * Against the rules written down literally, round by round, with classes that open and close.
     */
    @Test
    void the_order_is_that_of_a_literal_simulation() {
        for (int round = 0; round < 300; round++) {
            long seed = System.nanoTime() + round;
            SplittableRandom random = new SplittableRandom(seed);
            int count = 1 + random.nextInt(4);
            List<PolicyClass> classes = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                classes.add(policy("c" + i, QueuePolicy.FCFS, 1 + random.nextInt(50)));
            }
            ClassQueues queues = new ClassQueues(classes);
            Literal literal = new Literal(classes);
            for (int step = 0; step < 200; step++) {
                if (random.nextInt(3) > 0) {
                    Ticket t =
                            ticket(
                                    random.nextInt(count),
                                    QueuePolicy.FCFS,
                                    random.nextInt(100),
                                    random.nextInt(400),
                                    random.nextInt(5),
                                    random.nextInt(2));
                    queues.add(t);
                    literal.waiting.get(t.policyClass).add(t);
                } else {
                    int closed = random.nextInt(count * 2);
                    Ticket expected = literal.next(closed);
                    Ticket actual = queues.next(t -> t.policyClass != closed);
                    assertEquals(expected, actual, "seed " + seed + " step " + step);
                }
            }
        }
    }

    /** Deficit round robin without short cuts. */
    private static final class Literal {
        final List<List<Ticket>> waiting = new ArrayList<>();
        private final List<PolicyClass> classes;
        private final long[] deficits;
        private int turn;

        Literal(List<PolicyClass> classes) {
            this.classes = classes;
            classes.forEach(c -> waiting.add(new ArrayList<>()));
            deficits = new long[classes.size()];
            turn = classes.size() - 1;
        }

        Ticket next(int closed) {
            boolean any = false;
            for (int i = 0; i < classes.size(); i++) {
                any |= i != closed && !waiting.get(i).isEmpty();
            }
            boolean gained = true; // what has the turn has got its quantum
            while (any) {
                List<Ticket> here = waiting.get(turn);
                if (turn != closed && !here.isEmpty()) {
                    deficits[turn] += gained ? 0 : classes.get(turn).quantum();
                    here.sort(Comparator.naturalOrder());
                    Ticket first = here.getFirst();
                    long cost = Math.max(1, first.claim.tokens());
                    if (deficits[turn] >= cost) {
                        here.removeFirst();
                        deficits[turn] = here.isEmpty() ? 0 : deficits[turn] - cost;
                        assertNotNull(first);
                        return first;
                    }
                }
                turn = (turn + 1) % classes.size();
                gained = false;
            }
            return null;
        }
    }
}
