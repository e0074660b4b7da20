package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.admission.Tenant;
import io.warmpath.lab.TurnsInVirtualTime.Answers;
import io.warmpath.lab.TurnsInVirtualTime.Seen;
import io.warmpath.lab.TurnsInVirtualTime.Sender;
import io.warmpath.lab.TurnsInVirtualTime.Shape;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.sim.virtual.EngineModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Three times what the fleet can do for five minutes, by 20 tenants of which one sends nine tenths:
 * what the others notice of it, against what they see when that one sends nothing.
 */
@Tag("slow")
class TurnsInVirtualTimeTest {
    private static final double NO_QUEUE = Double.POSITIVE_INFINITY;
    private static final double DEFAULT = 0.25;
    private static final int ENGINES = 4;
    private static final int PLACES = 64;
    private static final long SEED = 31;
    private static final double SECONDS = 300;

    private static TurnsInVirtualTime fleet(EngineModel model, double threshold) {
        return fleet(model, threshold, Answers.STREAMED);
    }

    private static TurnsInVirtualTime fleet(EngineModel model, double threshold, Answers answers) {
        return new TurnsInVirtualTime(model, ENGINES, threshold, PLACES, SEED, answers);
    }

    /** Requests per second that engines end while more come than they can do. */
    private static double capacity(EngineModel model, Shape shape) {
        TurnsInVirtualTime fleet = fleet(model, NO_QUEUE);
        List<Seen> all = fleet.play(List.of(new Sender(Tenant.NOBODY, 700, shape)), SECONDS / 3);
        int before = ended(all);
        fleet.goOn(SECONDS);
        return (ended(all) - before) / (SECONDS * 2 / 3);
    }

    private static int ended(List<Seen> all) {
        return all.stream().mapToInt(s -> s.ended).sum();
    }

    /** 19 tenants with three tenths of the capacity together. */
    private static List<Sender> others(double capacity, Shape shape) {
        List<Sender> all = new ArrayList<>();
        for (int i = 1; i <= 19; i++) {
            all.add(new Sender(new Tenant("t" + i, 1), 0.3 * capacity / 19, shape));
        }
        return all;
    }

    /** The same, and behind them one with nine times as much as they have together. */
    private static List<Sender> withHog(List<Sender> others, double capacity, Tenant hog) {
        List<Sender> all = new ArrayList<>(others);
        all.add(new Sender(hog, 2.7 * capacity, others.getFirst().shape()));
        return all;
    }

    private record Compared(double alone, double with, List<Seen> seen, int mostWaiting) {
        double ratio() {
            return with / alone;
        }
    }

    private static Compared compare(
            EngineModel model, double threshold, double capacity, List<Sender> others, Tenant hog) {
        return compare(model, threshold, capacity, others, hog, Answers.STREAMED);
    }

    private static Compared compare(
            EngineModel model,
            double threshold,
            double capacity,
            List<Sender> others,
            Tenant hog,
            Answers answers) {
        double alone =
                TurnsInVirtualTime.p99(fleet(model, threshold, answers).play(others, SECONDS));
        TurnsInVirtualTime fleet = fleet(model, threshold, answers);
        List<Seen> seen = fleet.play(withHog(others, capacity, hog), SECONDS);
        return new Compared(
                alone, TurnsInVirtualTime.p99(seen.subList(0, 19)), seen, fleet.mostWaiting());
    }

    private static void print(String what, Compared c, double capacity) {
        System.out.printf(
                Locale.ROOT,
                "%s: p99 %.0f ms alone, %.0f ms with, ratio %.2f; %.2f of the capacity; most"
                        + " waiting %d%n",
                what,
                c.alone,
                c.with,
                c.ratio(),
                ended(c.seen) / SECONDS / capacity,
                c.mostWaiting);
    }

    /**
     * Prompts to compute, answers' tokens, the largest ratio, and how much of the capacity is left.
     * In the last two rows all places for running sequences are taken, which engines do not tell.
     */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({
        "8b,200,50,2,0.8",
        "8b,500,100,2,0.84",
        "8b,1000,100,2,0.87",
        "8b,4000,100,2,0.92",
        "70b,200,50,2,0.86",
        "70b,1000,100,2,0.88",
        "70b,4000,100,2,0.9",
        "8b,200,200,3,0.9",
        "8b,1000,400,3,0.9"
    })
    void others_wait_at_most_twice_as_long_as_alone(
            String name, int prompt, int answer, double most, double throughput) {
        EngineModel model = EngineModel.preset(name).orElseThrow();
        Shape shape = new Shape(prompt, answer);
        double capacity = capacity(model, shape);
        Compared c =
                compare(model, DEFAULT, capacity, others(capacity, shape), new Tenant("hog", 1));
        print(name + " " + prompt + "/" + answer, c, capacity);
        assertTrue(c.ratio() <= most, () -> "ratio " + c.ratio());
        for (Seen other : c.seen.subList(0, 19)) {
            assertEquals(0, other.refused + other.overloaded, "who sends little is not refused");
        }
        Seen hog = c.seen.getLast();
        assertTrue(hog.refused > hog.sent / 2, () -> hog.refused + " of " + hog.sent);
        assertEquals(0, hog.overloaded);
        assertTrue(c.mostWaiting <= PLACES * ENGINES);
        double part = ended(c.seen) / SECONDS / capacity;
        assertTrue(part >= throughput, () -> part + " of the capacity");
    }

    /** The controls: engines' own queues, and a queue that takes all for one tenant. */
    @Test
    void without_turns_others_wait_for_the_one_who_sends_most() {
        Shape shape = new Shape(1000, 100);
        EngineModel model = EngineModel.SMALL;
        double capacity = capacity(model, shape);
        List<Sender> others = others(capacity, shape);
        Compared none = compare(model, NO_QUEUE, capacity, others, new Tenant("hog", 1));
        print("no queue", none, capacity);
        assertTrue(none.ratio() > 100, () -> "ratio " + none.ratio());
        List<Sender> nobodies =
                others.stream().map(s -> new Sender(Tenant.NOBODY, s.perSecond(), shape)).toList();
        Compared one = compare(model, DEFAULT, capacity, nobodies, Tenant.NOBODY);
        print("one for all", one, capacity);
        assertTrue(one.ratio() > 10, () -> "ratio " + one.ratio());
    }

    /**
     * For the middle third the others alone are one and a half times what the fleet can do, so
     * there they are compared with a queue of their own.
     */
    @Test
    void engines_that_become_five_times_slower_in_the_middle() {
        Shape shape = new Shape(1000, 100);
        EngineModel model = EngineModel.SMALL;
        double capacity = capacity(model, shape);
        List<Sender> others = others(capacity, shape);
        TurnsInVirtualTime alone = slower(fleet(model, DEFAULT));
        TurnsInVirtualTime with = slower(fleet(model, DEFAULT));
        double p99 = TurnsInVirtualTime.p99(alone.play(others, SECONDS));
        List<Seen> seen = with.play(withHog(others, capacity, new Tenant("hog", 1)), SECONDS);
        Compared c =
                new Compared(
                        p99, TurnsInVirtualTime.p99(seen.subList(0, 19)), seen, with.mostWaiting());
        print("slower by 5", c, capacity);
        assertTrue(c.ratio() <= 2, () -> "ratio " + c.ratio());
        assertTrue(c.mostWaiting <= PLACES * ENGINES);
    }

    private static TurnsInVirtualTime slower(TurnsInVirtualTime fleet) {
        fleet.speed(SECONDS / 3, 0.2);
        fleet.speed(SECONDS * 2 / 3, 1);
        return fleet;
    }

    /** Requests that are ended in a second, while 20 tenants send twice what the fleet can do. */
    private static double ended(EngineModel model, Shape shape, double capacity, Answers answers) {
        List<Sender> senders = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            senders.add(new Sender(new Tenant("t" + i, 1), capacity / 10, shape));
        }
        TurnsInVirtualTime fleet = fleet(model, DEFAULT, answers);
        List<Seen> all = fleet.play(senders, SECONDS / 3);
        int before = ended(all);
        fleet.goOn(SECONDS);
        return (ended(all) - before) / (SECONDS * 2 / 3);
    }

    /**
     * Nobody sees a first token of them. Engines' events show what is computed, or do not; engines
     * are as fast as the router takes them to be, eight times as fast, or as slow.
     */
    @ParameterizedTest
    @CsvSource({
        "1000,16,1,true",
        "1000,200,1,true",
        "200,16,1,true",
        "4000,100,1,true",
        "1000,100,0.125,true",
        "1000,100,8,true",
        "1000,16,1,false",
        "1000,200,1,false",
        "1000,100,0.125,false",
        "1000,100,8,false"
    })
    void answers_in_one_piece_have_the_throughput_of_streams(
            int prompt, int answer, double slowerThanPriors, boolean shown) {
        EngineModel model = EngineModel.SMALL;
        Shape shape = new Shape(prompt, answer);
        double capacity = capacity(model, shape);
        double streamed = ended(model, shape, capacity, Answers.STREAMED);
        double whole =
                ended(
                        model,
                        shape,
                        capacity,
                        new Answers(
                                false, shown, times(LatencyPriors.DEFAULT, 1 / slowerThanPriors)));
        System.out.printf(
                Locale.ROOT,
                "%d/%d, %.3f, shown %s: %.1f/s streamed, %.1f/s in one piece, of %.1f%n",
                prompt,
                answer,
                slowerThanPriors,
                shown,
                streamed,
                whole,
                capacity);
        assertTrue(whole >= 0.95 * streamed, () -> whole + " in one piece, " + streamed);
    }

    /**
     * Where events show what is computed, turns count as for streams. In the last row they do not:
     * then only the engines' own queues, looked at every 2 s, say that the clock is ahead.
     */
    @ParameterizedTest
    @CsvSource({
        "1000,100,1,true,2",
        "200,50,1,true,2",
        "1000,100,0.125,true,2",
        "1000,100,8,true,2",
        "1000,100,1,false,30"
    })
    void others_wait_hardly_longer_where_answers_come_in_one_piece(
            int prompt, int answer, double slowerThanPriors, boolean shown, double most) {
        EngineModel model = EngineModel.SMALL;
        Shape shape = new Shape(prompt, answer);
        double capacity = capacity(model, shape);
        Compared c =
                compare(
                        model,
                        DEFAULT,
                        capacity,
                        others(capacity, shape),
                        new Tenant("hog", 1),
                        new Answers(
                                false, shown, times(LatencyPriors.DEFAULT, 1 / slowerThanPriors)));
        print(
                "in one piece " + prompt + "/" + answer + ", " + slowerThanPriors + " " + shown,
                c,
                capacity);
        assertTrue(c.ratio() <= most, () -> "ratio " + c.ratio());
        for (Seen other : c.seen.subList(0, 19)) {
            assertEquals(0, other.refused + other.overloaded, "who sends little is not refused");
        }
    }

    private static LatencyPriors times(LatencyPriors p, double slower) {
        return new LatencyPriors(
                slower * p.stepMillis(),
                slower * p.decodeMillisPerRequest(),
                slower * p.decodeMillisPerToken(),
                slower * p.prefillMillisPerToken(),
                slower * p.prefillMillisPerPair(),
                p.hostTokensPerSecond(),
                p.poolTokensPerSecond(),
                p.workPrice(),
                p.outputTokens());
    }

    /** All three send all the time; work is a prompt's tokens and twice an answer's. */
    @Test
    void work_is_shared_by_weight_whatever_requests_look_like() {
        List<Sender> senders =
                List.of(
                        new Sender(new Tenant("heavy", 3), 200, new Shape(1000, 100)),
                        new Sender(new Tenant("light", 1), 200, new Shape(1000, 100)),
                        new Sender(new Tenant("talks", 1), 200, new Shape(200, 500)));
        List<Seen> seen = fleet(EngineModel.SMALL, DEFAULT).play(senders, SECONDS);
        double light = seen.get(1).work;
        System.out.printf(
                Locale.ROOT,
                "work against weight 1: weight 3 %.2f, long answers %.2f%n",
                seen.get(0).work / light,
                seen.get(2).work / light);
        assertEquals(3, seen.get(0).work / light, 0.15);
        assertEquals(1, seen.get(2).work / light, 0.15);
    }
}
