package io.warmpath.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.replica.ReplicaCounters.Count;
import io.warmpath.replica.Replicas.Gateway;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Three gateways with random requests over a line that loses, doubles, delays and reorders, that is
 * cut for a while, with restarts of gateways and workers and stopped processes. Once the faults
 * end, every gateway must have exactly the load of one tracker that saw every request; the same
 * prompts are used everywhere, so prefixes are shared between gateways.
 */
class ReplicaOracleTest {
    private static final int GATEWAYS = 3;
    private static final int ROUNDS = 12;

    /** Longer than a drop-out, a question and its answer. */
    private static final int SETTLED = 400;

    private static final class Request {
        final int worker;
        final PromptBlocks prompt;
        final int prefill;
        final LoadBook.Booking booking;
        boolean first;
        int output;

        Request(Gateway at, int worker, PromptBlocks prompt, int prefill) {
            this.worker = worker;
            this.prompt = prompt;
            this.prefill = prefill;
            booking = at.load.book(at.slot(worker), prefill, prompt, 100);
        }

        /** The same on another tracker. */
        LoadBook.Booking on(LoadTracker all) {
            LoadBook.Booking b = all.book(new WorkerSlot(worker), prefill, prompt, 100);
            if (first) {
                b.firstToken();
            }
            if (output > 0) {
                b.progress(output, 1);
            }
            return b;
        }
    }

    private static final class Round {
        final long seed;
        final Replicas net;
        final List<List<Request>> running = new ArrayList<>();

        Round(long seed) {
            this.seed = seed;
            net = new Replicas(seed);
            for (int i = 0; i < GATEWAYS; i++) {
                net.join(i + 1);
                running.add(new ArrayList<>());
            }
        }

        void traffic(int steps) {
            for (int i = 0; i < steps; i++) {
                for (int g = 0; g < GATEWAYS; g++) {
                    act(net.gateways.get(g), running.get(g));
                }
                net.run(1);
            }
        }

        private void act(Gateway g, List<Request> own) {
            int dice = net.random.nextInt(10);
            if (own.isEmpty() || (dice < 4 && own.size() < 60)) {
                int[] tokens = new int[16 * net.random.nextInt(12) + net.random.nextInt(16)];
                for (int b = 0; b < tokens.length / 16; b++) {
                    tokens[16 * b] = net.random.nextInt(4) == 0 ? net.random.nextInt(3) : 0;
                }
                own.add(
                        new Request(
                                g,
                                net.random.nextInt(Replicas.WORKERS),
                                g.load.name("m", "", tokens, 16),
                                net.random.nextInt(tokens.length + 1)));
                return;
            }
            int which = net.random.nextInt(own.size());
            Request r = own.get(which);
            if (dice < 6) {
                r.first = true;
                r.booking.firstToken();
            } else if (dice < 8) {
                r.output += 1 + net.random.nextInt(30);
                r.booking.progress(r.output, 1); // what decays depends on who came first
            } else {
                own.remove(which);
                r.booking.close();
            }
        }

        void workerRestarts() {
            int worker = net.random.nextInt(Replicas.WORKERS);
            // Each gateway notices in its own time; requests that ran there break off.
            for (int g = 0; g < GATEWAYS; g++) {
                List<Request> own = running.get(g);
                for (Request r : List.copyOf(own)) {
                    if (r.worker == worker) {
                        own.remove(r);
                        if (net.random.nextBoolean()) {
                            r.booking.close();
                        }
                    }
                }
                net.gateways.get(g).restart(worker);
                net.run(net.random.nextInt(20));
            }
        }

        void gatewayRestarts() {
            int which = net.random.nextInt(GATEWAYS);
            Gateway old = net.gateways.get(which);
            net.kill(old); // without a word
            running.set(which, new ArrayList<>());
            Gateway fresh = net.join(old.router);
            net.gateways.remove(fresh);
            net.gateways.add(which, fresh);
        }

        /** Nothing is left of anything. */
        void end() {
            running.forEach(own -> own.forEach(r -> r.booking.close()));
            running.forEach(List::clear);
            net.run(SETTLED);
            check("at the end");
            for (Gateway g : net.gateways) {
                assertEquals(0, g.peersWork, "seed " + seed + ", gateway " + g.router);
            }
        }

        void check(String when) {
            LoadTracker all = new LoadTracker(() -> 0, Replicas.LOAD, Replicas.SECRET);
            running.forEach(own -> own.forEach(r -> r.on(all)));
            String where = "seed " + seed + ", " + when;
            for (Gateway g : net.gateways) {
                for (PeerStatus p : g.sync.peers()) {
                    assertTrue(p.counted(), where + ": " + g.router + " does not count " + p);
                }
                assertEquals(GATEWAYS - 1, g.sync.peers().size(), where);
                for (int w = 0; w < Replicas.WORKERS; w++) {
                    assertEquals(
                            all.load(new WorkerSlot(w)),
                            g.load.load(g.slot(w)),
                            where + ": worker " + w + " as gateway " + g.router + " sees it");
                }
            }
        }
    }

    @Test
    void every_gateway_has_the_load_of_all_once_the_faults_end() {
        long lost = 0;
        long repeated = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(System.nanoTime() + i);
            Replicas net = round.net;
            round.traffic(200);
            net.run(20);
            round.check("before any fault");
            for (int faults = 0; faults < 4; faults++) {
                net.drop = net.random.nextInt(3) * 0.1;
                net.twice = net.random.nextInt(2) * 0.2;
                net.jitterMillis = net.random.nextInt(3) * 5;
                round.traffic(150);
                switch (net.random.nextInt(5)) {
                    case 0 -> {
                        net.up = false;
                        round.traffic(net.random.nextInt(300));
                        net.up = true;
                    }
                    case 1 -> round.gatewayRestarts();
                    case 2 -> round.workerRestarts();
                    case 3 -> {
                        Gateway g = net.gateways.get(net.random.nextInt(GATEWAYS));
                        g.stoppedUntil = net.millis + net.random.nextInt(300);
                    }
                    default -> { // its clock jumps, as after a suspended machine
                        Gateway g = net.gateways.get(net.random.nextInt(GATEWAYS));
                        g.clockMillis += net.random.nextInt(20_000);
                    }
                }
                round.traffic(100);
                net.drop = 0;
                net.twice = 0;
                net.jitterMillis = 0;
                round.traffic(50);
                net.run(SETTLED);
                round.check("after fault " + faults);
            }
            round.end();
            lost += net.gateways.stream().mapToLong(g -> g.sync.counters().get(Count.LOST)).sum();
            repeated +=
                    net.gateways.stream()
                            .mapToLong(g -> g.sync.counters().get(Count.REPEATED))
                            .sum();
        }
        assertTrue(lost > 100 && repeated > 100, lost + " lost, " + repeated + " repeated");
    }
}
