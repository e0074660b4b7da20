package io.warmpath.routing.rates;

import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Router;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What each rank has been sent, and how fast it turned out to be. Any thread. {@link #state} is two
 * volatile reads; what is sent, begins and ends takes the slot's own lock for a moment. Slot
 * numbers are used again: a new incarnation starts anew.
 */
public final class WorkerRates implements Speeds {
    private static final int FIRST_CAPACITY = 64;

    /** How long what was summed up of a fleet stands: the share is a mean over 200 times that. */
    private static final long FLEET_NANOS = RateState.WINDOW_NANOS / 200;

    /** An answer's length moves the mean by this part. */
    private static final double OUTPUT_WEIGHT = 1.0 / 64;

    /**
     * Of a request's prefill that others are taken to have sent unheard, whatever the news take:
     * with less of it gateways meet at one worker, with more they overlook what they know.
     */
    private static final double UNHEARD_PART = 0.5;

    /** The prefill of another gateway's request moves the mean by this part. */
    private static final double UNHEARD_WEIGHT = 1.0 / 64;

    /** Blocks that nothing was evicted of, which a fleet starts from. */
    private static final double PRIOR_BLOCKS = 64;

    private final LatencyPriors priors;
    private final LongSupplier nanoTime;

    /** By slot number. Replaced by a larger one, and elements replaced, under the monitor only. */
    private volatile AtomicReferenceArray<@Nullable SlotRates> slots =
            new AtomicReferenceArray<>(FIRST_CAPACITY);

    private volatile Known known = new Known(List.of(), 0, FleetRates.UNSEEN);

    /** Written under the monitor. */
    private volatile double outputTokens;

    /** Written under the monitor; its work is a mean over the requests of other gateways. */
    private volatile Unheard unheard = Unheard.NONE;

    public WorkerRates(LatencyPriors priors, LongSupplier nanoTime) {
        this.priors = priors;
        this.nanoTime = nanoTime;
        this.outputTokens = priors.outputTokens();
    }

    @Override
    public long now() {
        return nanoTime.getAsLong();
    }

    /** Takes effect with the next decision; until then there is this gateway only. */
    public synchronized void among(int place, int gateways) {
        unheard = gateways == 1 ? Unheard.NONE : new Unheard(unheard.millis(), place, gateways);
    }

    @Override
    public Unheard unheard() {
        return unheard;
    }

    @Override
    public double outputTokens() {
        return outputTokens;
    }

    @Override
    public RateState state(WorkerSlot slot) {
        SlotRates rates = find(slot);
        return rates == null ? RateState.IDLE : rates.state();
    }

    /** Takes the slot's lock, and looks at each request that waits there. */
    SlotRates.Demand demand(WorkerSlot slot, long now) {
        SlotRates rates = find(slot);
        return rates == null ? SlotRates.Demand.none() : rates.demand(now);
    }

    private @Nullable SlotRates find(WorkerSlot slot) {
        AtomicReferenceArray<@Nullable SlotRates> all = slots;
        SlotRates rates = slot.index() < all.length() ? all.get(slot.index()) : null;
        return rates == null || rates.slot() != slot.value() ? null : rates;
    }

    /** Summed up again after {@link #FLEET_NANOS} only, because it reads every state. */
    @Override
    @SuppressWarnings("ReferenceEquality") // a snapshot gives the same list until the fleet changes
    public FleetRates fleet(List<Candidate> candidates, long now) {
        Known last = known;
        if (last.of == candidates && now - last.atNanos < FLEET_NANOS) {
            return last.rates;
        }
        FleetRates rates = together(candidates, now);
        known = new Known(candidates, now, rates);
        return rates;
    }

    /** As {@link Router#prefillFactor}. */
    public double prefillFactor(WorkerSlot slot) {
        return state(slot).prefillFactor(known.rates);
    }

    /** As {@link #fleet}, at this moment. */
    FleetRates together(List<Candidate> candidates, long now) {
        long current = Math.floorDiv(now, RateState.WINDOW_NANOS);
        double passed =
                (double) Math.floorMod(now, RateState.WINDOW_NANOS) / RateState.WINDOW_NANOS;
        double booked = 0;
        double requests = 0;
        Sum prefill = new Sum();
        Sum decode = new Sum();
        Sum host = new Sum();
        Sum pool = new Sum();
        Sum again = new Sum();
        for (int i = 0; i < candidates.size(); i++) {
            RateState s = state(candidates.get(i).slot());
            booked += s.bookedMillis(current, passed);
            requests += s.requests();
            prefill.add(s.prefill());
            decode.add(s.decode());
            host.add(s.host());
            pool.add(s.pool());
            again.add(s.again());
        }
        return new FleetRates(
                booked / (candidates.size() * (RateState.WINDOW_NANOS / 1e6)),
                requests / candidates.size(),
                prefill.factor(),
                decode.factor(),
                host.factor(),
                pool.factor(),
                again.part(PRIOR_BLOCKS));
    }

    /** {@code shows}: by what its speed will show. */
    public Sent sent(WorkerSlot slot, Work work, Shows shows) {
        SlotRates rates = of(slot);
        SlotRates.Running running = rates.begin(work, shows, now());
        return new Sent() {
            @Override
            public void firstToken() {
                rates.firstToken(running, now());
            }

            @Override
            public long prefillNanos() {
                return rates.prefillNanos(running, now());
            }

            @Override
            public void willShow() {
                rates.willShow(running);
            }

            @Override
            public void prefilled() {
                rates.prefilled(running, now());
            }

            @Override
            public void ended(long tokens) {
                rates.end(running, tokens, now());
                // Who prefills for another worker ends after one token: no answer's length.
                if (tokens > 0 && work.outputTokens() > 0) {
                    learnOutput((double) tokens);
                }
            }
        };
    }

    /**
     * A request is about to be sent there.
     *
     * @param blocks a sample of those that it has to compute
     * @param again of these, computed before and held by nobody any more
     */
    public void computed(WorkerSlot slot, int blocks, int again) {
        of(slot).computed(blocks, again);
    }

    /** As {@link Router#waiting}. */
    public void waiting(WorkerSlot slot, int requests) {
        SlotRates rates = find(slot);
        if (rates != null) {
            rates.waiting(requests, now());
        }
    }

    /** As {@link Router#sentByPeer}. */
    public Sent sentByPeer(
            WorkerSlot slot,
            int prefillTokens,
            int promptTokens,
            int expectedOutput,
            boolean prefilled) {
        SlotRates rates = of(slot);
        FleetRates fleet = known.rates;
        double prefillFactor = rates.state().prefillFactor(fleet);
        Work work =
                new Work(
                        promptTokens,
                        prefillTokens,
                        prefillFactor
                                * priors.prefillMillis(
                                        prefillTokens, Math.max(0, promptTokens - prefillTokens)),
                        0,
                        0,
                        0,
                        0,
                        expectedOutput > 0 ? expectedOutput : outputTokens,
                        prefillFactor,
                        rates.state().decodeFactor(fleet));
        learnUnheard(work.aheadMillis());
        SlotRates.Running running = rates.beginOfPeer(work, prefilled, now());
        return new Sent() {
            @Override
            public void firstToken() {
                rates.firstToken(running, now());
            }

            @Override
            public void ended(long tokens) {
                rates.end(running, -1, now());
            }
        };
    }

    private synchronized void learnUnheard(double millis) {
        Unheard u = unheard;
        if (u.gateways() > 1) {
            double part = UNHEARD_PART * millis;
            double mean =
                    u.millis() == 0 ? part : u.millis() + (part - u.millis()) * UNHEARD_WEIGHT;
            unheard = new Unheard(mean, u.place(), u.gateways());
        }
    }

    private synchronized void learnOutput(double tokens) {
        outputTokens = outputTokens + (tokens - outputTokens) * OUTPUT_WEIGHT;
    }

    private SlotRates of(WorkerSlot slot) {
        SlotRates rates = find(slot);
        return rates != null ? rates : open(slot);
    }

    private synchronized SlotRates open(WorkerSlot slot) {
        AtomicReferenceArray<@Nullable SlotRates> all = slots;
        if (slot.index() >= all.length()) {
            AtomicReferenceArray<@Nullable SlotRates> larger =
                    new AtomicReferenceArray<>(Math.max(slot.index() + 1, 2 * all.length()));
            for (int i = 0; i < all.length(); i++) {
                larger.set(i, all.get(i));
            }
            slots = larger;
            all = larger;
        }
        SlotRates there = all.get(slot.index());
        if (there != null && there.slot() == slot.value()) {
            return there;
        }
        SlotRates fresh = new SlotRates(slot.value(), priors);
        if (there == null || isLater(slot.value(), there.slot())) {
            all.set(slot.index(), fresh);
        }
        // Else a request decided on an older snapshot: it must not take the new one's place.
        return fresh;
    }

    /** Incarnations count around. */
    private static boolean isLater(int slot, int than) {
        return (slot - than) >> WorkerSlot.NUMBER_BITS > 0;
    }

    private record Known(List<Candidate> of, long atNanos, FleetRates rates) {}

    /** Of all ranks' samples. */
    private static final class Sum {
        private double observed;
        private double predicted;

        void add(Ratio ratio) {
            observed += ratio.observed();
            predicted += ratio.predicted();
        }

        double factor() {
            return Ratio.fleetFactor(observed, predicted);
        }

        double part(double prior) {
            return Math.min(FleetRates.MOST_EVICTED, observed / (predicted + prior));
        }
    }

    /** By what a request shows how fast its worker is. */
    public enum Shows {
        /** Its first token is seen, and its end. */
        FIRST_TOKEN,
        /** Only its end is seen: prefill and decoding together. */
        END,
        /** Neither says anything of this worker: another one computes its prompt. */
        NOTHING
    }

    /**
     * What a request asks of its worker, in times that its speed is taken to give.
     *
     * @param freshTokens those of the prompt that are not cached
     * @param prefillMillis predicted, of these
     * @param loadMillis predicted, of the cached ones in slower tiers
     * @param stepMillis predicted, of the step that gives the first token
     * @param hostTokens cached tokens to fetch from host memory
     * @param poolTokens cached tokens to fetch from slower tiers
     * @param outputTokens expected
     * @param prefillFactor by which the worker is taken to be slower than the priors, in prefill
     * @param decodeFactor the same of decoding
     */
    public record Work(
            int promptTokens,
            int freshTokens,
            double prefillMillis,
            double loadMillis,
            double stepMillis,
            int hostTokens,
            int poolTokens,
            double outputTokens,
            double prefillFactor,
            double decodeFactor) {
        /** What others wait for. */
        double aheadMillis() {
            return prefillMillis + loadMillis;
        }
    }
}
