package io.warmpath.lab;

import io.warmpath.admission.Admission;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.admission.Claim;
import io.warmpath.admission.ModelQueue;
import io.warmpath.admission.Policies;
import io.warmpath.admission.QueuePolicy;
import io.warmpath.admission.Tenant;
import io.warmpath.admission.Ticket;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.rates.FleetRates;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.routing.rates.RateState;
import io.warmpath.routing.rates.Sent;
import io.warmpath.routing.rates.WorkerRates;
import io.warmpath.sim.virtual.BlockCache;
import io.warmpath.sim.virtual.EngineModel;
import io.warmpath.sim.virtual.EngineWatcher;
import io.warmpath.sim.virtual.IdList;
import io.warmpath.sim.virtual.Job;
import io.warmpath.sim.virtual.VirtualEngine;
import io.warmpath.sim.virtual.VirtualTime;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Tenants before the product's queue and a fleet of modelled engines, in virtual time. Open loop:
 * requests come at random times of a constant rate, whatever became of those before. No prompt is
 * cached; the rank with the least prefill booked gets a request. One thread.
 */
final class TurnsInVirtualTime {
    private static final int BLOCK = 64;
    private static final int BATCH = 8192;

    /** One way between gateway and engine. */
    private static final long WIRE_NANOS = 250_000;

    /** Events are behind first tokens. */
    private static final long EVENT_NANOS = 3_000_000;

    private static final long LOAD_NANOS = 2_000_000_000;

    /** What requests are like: prompts of half the mean to twice as much, each as likely. */
    record Shape(int meanPrompt, int answer) {
        private int prompt(SplittableRandom random) {
            return (int) (meanPrompt * (0.5 + random.nextDouble()));
        }
    }

    /**
     * Speeds are what the router's are until answers say otherwise; engines are as they are.
     *
     * @param streamed first tokens are seen; else answers come in one piece
     * @param shown events show what is computed
     */
    record Answers(boolean streamed, boolean shown, LatencyPriors priors) {
        static final Answers STREAMED = new Answers(true, true, LatencyPriors.DEFAULT);
    }

    /** One who sends {@code perSecond} requests. */
    record Sender(Tenant tenant, double perSecond, Shape shape) {}

    /** What one tenant saw. */
    static final class Seen {
        final List<Double> ttftMillis = new ArrayList<>();
        int sent;
        int refused;
        int overloaded;
        int ended;
        long work;
    }

    private final class Request extends Job {
        final Seen seen;
        final long came;
        final int prompt;
        final int answer;
        LoadBook.@Nullable Booking booking;
        @Nullable Sent sent;
        boolean shown;
        ModelQueue.@Nullable Account account;

        Request(Seen seen, int prompt, int answer) {
            super(new int[0], prompt, answer);
            this.seen = seen;
            this.prompt = prompt;
            this.answer = answer;
            this.came = time.nanos();
        }
    }

    private final VirtualTime time = new VirtualTime();
    private final LoadTracker loads = new LoadTracker();
    private final List<Candidate> ranks = new ArrayList<>();
    private final List<VirtualEngine<Request>> engines = new ArrayList<>();
    private final SplittableRandom random;
    private final Admission admission;
    private final Answers answers;
    private final WorkerRates rates;
    private final @Nullable ModelQueue queue;
    private int mostWaiting;

    /**
     * @param threshold of the queue; infinite: there is none
     */
    TurnsInVirtualTime(
            EngineModel model, int size, double threshold, long limit, long seed, Answers answers) {
        random = new SplittableRandom(seed);
        this.answers = answers;
        rates = new WorkerRates(answers.priors, time::nanos);
        for (int i = 0; i < size; i++) {
            WorkerSlot slot = new WorkerSlot(i);
            Worker worker =
                    Worker.builder(i, "w" + i, URI.create("http://w" + i))
                            .kind(EngineKind.VLLM)
                            .models(Set.of("m"))
                            .blockSize(BLOCK)
                            .ranks(List.of(new Worker.Rank(0, slot)))
                            .capacity(new Capacity(BATCH, model.kvTokens() / BLOCK))
                            .build();
            ranks.add(new Candidate(worker, 0, slot));
            engines.add(
                    new VirtualEngine<>(
                            time,
                            model,
                            BLOCK,
                            1,
                            new BlockCache(model.kvTokens() / BLOCK),
                            false,
                            0,
                            null,
                            watcher()));
        }
        Policies policies =
                Double.isInfinite(threshold)
                        ? null
                        : Policies.single(QueuePolicy.FCFS, threshold, limit);
        admission =
                new Admission(
                        new AdmissionOptions(
                                policies, Map.of(), BusyThresholds.NONE, BATCH, Duration.ZERO, 529),
                        loads,
                        time::nanos);
        queue = admission.queue("m");
    }

    int mostWaiting() {
        return mostWaiting;
    }

    /** From then on engines are so many times as fast. */
    void speed(double atSecond, double speed) {
        time.at((long) (atSecond * 1e9), () -> engines.forEach(e -> e.setSpeed(speed)));
    }

    /** Sends until then, and returns at that moment; what still waits is not counted. */
    List<Seen> play(List<Sender> senders, double seconds) {
        List<Seen> all = new ArrayList<>();
        for (Sender sender : senders) {
            Seen seen = new Seen();
            all.add(seen);
            next(sender, seen);
        }
        lookAtEngines();
        goOn(seconds);
        return all;
    }

    /** The same senders until this moment. */
    void goOn(double seconds) {
        while (time.nanos() < seconds * 1e9 && time.step()) {
            mostWaiting = Math.max(mostWaiting, admission.waiting());
        }
    }

    private void next(Sender sender, Seen seen) {
        double wait = -Math.log(1 - random.nextDouble()) / sender.perSecond;
        time.after(
                (long) (wait * 1e9),
                () -> {
                    next(sender, seen);
                    arrive(sender, seen);
                });
    }

    private void arrive(Sender sender, Seen seen) {
        Request request = new Request(seen, sender.shape.prompt(random), sender.shape.answer);
        seen.sent++;
        if (queue == null) {
            send(request);
            return;
        }
        Claim claim = new Claim(sender.tenant, "", request.prompt, 0, 0, 0, () -> ranks);
        Ticket[] ticket = new Ticket[1];
        switch (queue.enter(
                claim, ranks.size(), () -> time.after(0, () -> called(request, ticket[0])))) {
            case ModelQueue.Entry.Admitted now -> {
                request.account = now.account();
                send(request);
            }
            case ModelQueue.Entry.Waiting waiting -> {
                ticket[0] = waiting.ticket();
                request.account = queue.account(ticket[0]);
            }
            case ModelQueue.Entry.Full full -> seen.overloaded++;
            case ModelQueue.Entry.OverShare over -> seen.refused++;
        }
    }

    private void called(Request request, Ticket ticket) {
        send(request);
        if (queue != null) {
            queue.started(ticket);
        }
    }

    private void send(Request request) {
        int least = 0;
        for (int i = 1; i < ranks.size(); i++) {
            if (booked(i) < booked(least)) {
                least = i;
            }
        }
        request.booking =
                loads.book(
                        ranks.get(least).slot(),
                        request.prompt,
                        Math.ceilDiv(request.prompt + request.answer, BLOCK));
        if (!answers.streamed) {
            request.sent =
                    rates.sent(
                            ranks.get(least).slot(),
                            work(request, ranks.get(least)),
                            WorkerRates.Shows.END);
            if (answers.shown) {
                request.sent.willShow();
            }
            watch(request, request.sent, request.sent.prefillNanos() / 8);
        }
        VirtualEngine<Request> engine = engines.get(least);
        time.after(WIRE_NANOS, () -> engine.submit(request));
    }

    private WorkerRates.Work work(Request request, Candidate to) {
        FleetRates fleet = rates.fleet(ranks, time.nanos());
        RateState state = rates.state(to.slot());
        double prefill = state.prefillFactor(fleet);
        double decode = state.decodeFactor(fleet);
        double step =
                answers.priors.stepMillis(
                        state.requests() + 1,
                        state.promptTokens() + request.prompt + rates.outputTokens() / 2);
        return new WorkerRates.Work(
                request.prompt,
                request.prompt,
                prefill * answers.priors.prefillMillis(request.prompt, 0),
                0,
                prefill * step,
                0,
                0,
                rates.outputTokens(),
                prefill,
                decode);
    }

    /** As the gateway does every two seconds. */
    private void lookAtEngines() {
        for (int i = 0; i < engines.size(); i++) {
            rates.waiting(ranks.get(i).slot(), engines.get(i).waiting());
        }
        time.after(LOAD_NANOS, this::lookAtEngines);
    }

    /** As the gateway does where it sees no first token. */
    private void watch(Request request, Sent sent, long pause) {
        if (request.shown) {
            sent.prefilled();
        }
        long nanos = sent.prefillNanos();
        if (nanos > 0) {
            time.after(
                    Math.max(2_000_000, Math.min(pause, nanos)), () -> watch(request, sent, pause));
        } else if (request.booking != null) {
            request.booking.firstToken();
            admission.wake();
        }
    }

    private double booked(int rank) {
        WorkerLoad load = loads.load(ranks.get(rank).slot());
        return load.prefillTokens() + load.requests() * 1e-3;
    }

    private EngineWatcher<Request> watcher() {
        return new EngineWatcher<>() {
            @Override
            public void firstToken(Request request) {
                time.after(WIRE_NANOS, () -> begun(request));
            }

            @Override
            public void ended(Request request) {
                time.after(WIRE_NANOS, () -> over(request));
            }

            @Override
            public void stored(boolean host, int[] blocks, int from, int to) {}

            @Override
            public void removed(boolean host, IdList blocks) {}
        };
    }

    private void begun(Request request) {
        request.seen.ttftMillis.add((time.nanos() - request.came) / 1e6);
        time.after(EVENT_NANOS, () -> request.shown = answers.shown);
        if (request.booking != null && answers.streamed) {
            request.booking.firstToken();
        }
        admission.wake();
    }

    private void over(Request request) {
        request.seen.ended++;
        request.seen.work += request.prompt + 2L * request.answer;
        if (request.booking != null) {
            request.booking.close();
        }
        if (request.sent != null) {
            request.sent.ended(request.answer);
        }
        if (request.account != null) {
            request.account.answered(request.answer);
        }
        admission.wake();
    }

    /** In milliseconds, over several tenants' requests. */
    static double p99(List<Seen> seen) {
        double[] all =
                seen.stream()
                        .flatMap(s -> s.ttftMillis.stream())
                        .mapToDouble(Double::doubleValue)
                        .toArray();
        Arrays.sort(all);
        return all.length == 0 ? Double.NaN : all[(int) Math.ceil(all.length * 0.99) - 1];
    }
}
