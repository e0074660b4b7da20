package io.warmpath.replica;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.NumberedSlots;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.session.Affinity;
import io.warmpath.session.AffinityOptions;
import io.warmpath.session.Rendezvous;
import io.warmpath.session.SessionTable;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Gateways that hear each other over a line with faults, in virtual time: one step is a
 * millisecond. Each has its own clock and its own slot numbers.
 */
final class Replicas {
    static final int WORKERS = 4;
    static final LoadOptions LOAD = new LoadOptions(Duration.ofMinutes(5), true, true, true);
    static final long SECRET = 9;
    static final Duration MAX_AGE = Duration.ofMillis(100);
    static final long MILLI = 1_000_000;

    static final AffinityOptions SESSIONS =
            new AffinityOptions(
                    Duration.ofSeconds(4),
                    AffinityOptions.Mode.HARD,
                    AffinityOptions.Placement.COST,
                    1000);

    /** As good as any that all have the same. */
    private static long name(byte[] bytes) {
        return new BigInteger(1, bytes).longValue();
    }

    private record Parcel(long at, long order, Gateway to, byte[] message) {}

    final SplittableRandom random;
    final List<Gateway> gateways = new ArrayList<>();
    final List<String> warnings = new ArrayList<>();
    final List<String> infos = new ArrayList<>();
    private final PriorityQueue<Parcel> line =
            new PriorityQueue<>(Comparator.comparing(Parcel::at).thenComparing(Parcel::order));
    long millis = 1_000;
    double drop;
    double twice;

    /** Each parcel takes up to so long, by itself: 0 keeps the order. */
    int jitterMillis;

    /** All parcels take so long. */
    int delayMillis;

    boolean up = true;
    private long parcels;

    Replicas(long seed) {
        random = new SplittableRandom(seed);
    }

    Gateway join(long router) {
        Gateway g = new Gateway(router, random.nextLong(), 1 << 12);
        gateways.add(g);
        return g;
    }

    Gateway join(long router, int queue) {
        Gateway g = new Gateway(router, random.nextLong(), queue);
        gateways.add(g);
        return g;
    }

    void kill(Gateway g) {
        gateways.remove(g);
        line.removeIf(p -> p.to() == g);
    }

    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            millis++;
            while (!line.isEmpty() && line.peek().at() <= millis) {
                Parcel p = line.poll();
                if (up) {
                    p.to().sync.received(p.message());
                }
            }
            for (Gateway g : gateways) {
                if (g.stoppedUntil <= millis) {
                    g.sync.tick();
                }
            }
        }
    }

    private void send(Gateway from, byte[] message) {
        for (Gateway to : gateways) {
            boolean own = to == from;
            int copies = !own && random.nextDouble() < twice ? 2 : 1;
            for (int i = 0; i < copies; i++) {
                int late = jitterMillis == 0 ? 0 : random.nextInt(jitterMillis + 1);
                if (own || random.nextDouble() >= drop) {
                    long at = millis + 1 + delayMillis + from.wayOutMillis;
                    from.lastAt = Math.max(from.lastAt, at); // nothing overtakes,
                    line.add(new Parcel(from.lastAt + late, parcels++, to, message)); // but here
                }
            }
        }
    }

    /** One gateway with a fleet of its own. */
    final class Gateway implements ReplicaLink, Fleet, ReplicaLog, PeerWork {
        final WorkerSlots slots = new NumberedSlots();
        final LoadTracker load;
        final SessionViews sessions = new SessionViews((b, half) -> 31L * half + name(b));
        final SessionTable table;
        final Affinity affinity;
        final ReplicaSync sync;
        final long router;
        final long epoch;
        private final WorkerSlot[] places = new WorkerSlot[WORKERS];
        private final boolean[] known = new boolean[WORKERS];
        private FleetSnapshot snapshot = FleetSnapshot.EMPTY;
        long clockMillis;
        long stoppedUntil;

        /** What it sends takes so long before it is on the line. */
        int wayOutMillis;

        private long lastAt;

        int wakes;

        /** Requests of others that count here. */
        int peersWork;

        /** What the last of them was expected to answer. */
        int peersOutput;

        /** Its place among those that count. */
        String among = "0 of 1";

        Gateway(long router, long epoch, int capacity) {
            this.router = router;
            this.epoch = epoch;
            clockMillis = random.nextInt(1_000_000);
            ChangeQueue queue = new ChangeQueue(capacity, () -> wakes++);
            table = new SessionTable(SESSIONS, this::nanos, sessions);
            sessions.into(table);
            affinity = new Affinity(SESSIONS, new Rendezvous((b, seed) -> seed), table);
            load = new LoadTracker(this::nanos, LOAD, SECRET, queue);
            // Another gateway has other numbers for the same workers.
            for (int i = random.nextInt(3); i > 0; i--) {
                slots.open(0, 1000 + i, 0);
            }
            for (int w = 0; w < WORKERS; w++) {
                known[w] = true;
                open(w);
            }
            publish();
            sync =
                    new ReplicaSync(
                            new ReplicaOptions(router, epoch, "gw" + router, MAX_AGE),
                            load,
                            this,
                            queue,
                            this,
                            this,
                            this::nanos,
                            () -> {},
                            this,
                            sessions);
        }

        @Override
        public void among(int place, int gateways) {
            among = place + " of " + gateways;
        }

        @Override
        public Running began(WorkerSlot slot, int prefill, int prompt, int output, boolean first) {
            peersWork++;
            peersOutput = output;
            return new Running() {
                @Override
                public void firstToken() {}

                @Override
                public void ended() {
                    peersWork--;
                }
            };
        }

        private long nanos() {
            return (millis + clockMillis) * MILLI;
        }

        private void open(int worker) {
            places[worker] = slots.open(0, worker, 0);
            load.forget(places[worker]);
        }

        /** A new process of the worker was noticed. */
        void restart(int worker) {
            slots.close(places[worker]);
            open(worker);
            publish();
        }

        void knows(int worker, boolean is) {
            known[worker] = is;
            publish();
        }

        private void publish() {
            List<Worker> workers = new ArrayList<>();
            for (int w = 0; w < WORKERS; w++) {
                if (known[w]) {
                    workers.add(
                            Worker.builder(w, "w" + w, URI.create("http://w" + w + ":1"))
                                    .kind(EngineKind.VLLM)
                                    .models(Set.of("m"))
                                    .blockSize(16)
                                    .ranks(List.of(new Worker.Rank(0, places[w])))
                                    .build());
                }
            }
            snapshot = new FleetSnapshot(snapshot.version() + 1, workers);
        }

        WorkerSlot slot(int worker) {
            return places[worker];
        }

        PeerStatus peer(long other) {
            return sync.peers().stream()
                    .filter(p -> p.router() == other)
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(router + " has not heard " + other));
        }

        @Override
        public FleetSnapshot snapshot() {
            return snapshot;
        }

        @Override
        public void reportFailure(long workerId) {}

        @Override
        public boolean send(byte[] message, int length) {
            if (!up) {
                return false;
            }
            Replicas.this.send(this, java.util.Arrays.copyOf(message, length));
            return true;
        }

        @Override
        public boolean isUp() {
            return up;
        }

        @Override
        public int maxBytes() {
            return 1 << 12; // small, so that states take several messages
        }

        @Override
        public void info(String text) {
            infos.add(router + ": " + text);
        }

        @Override
        public void warn(String text) {
            warnings.add(router + ": " + text);
        }
    }
}
