package io.warmpath.fleet.address;

import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.SourceName;
import java.net.InetAddress;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the gateway from being sent where it must not go: asks {@link AddressRules} of every place
 * that somebody other than the operator's configuration names, and again of what its name leads to.
 * Any thread, never blocks. What the configuration names may be anywhere, for as long as the
 * process runs; so may the hosts of its workers be connected to under those names by others.
 */
public final class AddressGuard {
    /** Where a refusal was met. */
    public enum At {
        /** Somebody named a worker. */
        RECORD,
        /** An engine told where its events or its pool are. */
        ENGINE,
        /** A name led to an address at a connect. */
        CONNECT
    }

    /** Hosts whose refusal has been told; of more no warning is given. */
    private static final int MAX_WARNED = 1024;

    private final AddressRules rules;
    private final Consumer<String> log;
    private final Set<String> trusted = ConcurrentHashMap.newKeySet();
    private final Map<String, String> warned = new ConcurrentHashMap<>();
    private final LongAdder refusedRecords = new LongAdder();
    private final LongAdder refusedOfEngines = new LongAdder();
    private final LongAdder refusedConnections = new LongAdder();

    /** {@code log}: a warning, told once per host and cause. */
    public AddressGuard(AddressRules rules, Consumer<String> log) {
        this.rules = rules;
        this.log = log;
    }

    /** The configuration names this host. */
    public void trust(String host) {
        trusted.add(Place.bare(host));
    }

    /** The configuration names this worker. */
    public void trust(WorkerSpec spec) {
        places(spec).values().forEach(place -> trust(place.host()));
    }

    /**
     * Why this record must not be taken.
     *
     * @param sameMachine as for {@link AddressRules#refusal(Place, boolean)}
     */
    public Optional<String> refusal(WorkerSpec spec, boolean sameMachine) {
        Optional<String> why =
                places(spec).entrySet().stream()
                        .flatMap(
                                e ->
                                        rules
                                                .refusal(e.getValue(), sameMachine)
                                                .map(text -> e.getKey() + ": " + text)
                                                .stream())
                        .findFirst();
        why.ifPresent(text -> count(At.RECORD));
        return why;
    }

    /**
     * Why a place that an engine told must not be connected to. On its own host it may have sockets
     * wherever it likes; an engine of this machine may name this machine.
     */
    Optional<String> refusalOfTold(URI worker, Place place) {
        Place own = Place.of(worker);
        boolean ownHost = !place.isFile() && place.host().equals(EngineAddress.hostOf(worker));
        if (ownHost || place.host().equals(own.host()) || trusted.contains(place.host())) {
            return Optional.empty();
        }
        boolean here =
                own.isFile()
                        || AddressRange.literal(own.host())
                                .map(a -> AddressRange.parse("127.0.0.0/8").contains(a))
                                .orElse(own.host().equals("localhost"));
        Optional<String> why = rules.refusal(place, here);
        why.ifPresent(text -> count(At.ENGINE));
        return why;
    }

    /** Whether {@link #check} has anything to say of connections to this host; else do not ask. */
    public boolean judges(String host) {
        return AddressRange.literal(host).isEmpty() && !trusted.contains(host);
    }

    /**
     * Before a connection is made to what a name has led to.
     *
     * @throws RefusedAddressException when it must not be made
     */
    public void check(Place place, InetAddress resolved) throws RefusedAddressException {
        if (AddressRules.isSettled(place.host(), resolved) || trusted.contains(place.host())) {
            return;
        }
        Optional<String> why = rules.refusal(place, resolved);
        if (why.isEmpty()) {
            warned.remove(place.host());
            return;
        }
        count(At.CONNECT);
        tell(place.host(), "No connection to " + place + ": " + why.get() + ".");
        throw new RefusedAddressException(why.get());
    }

    private void tell(String who, String text) {
        if ((warned.size() < MAX_WARNED || warned.containsKey(who))
                && !text.equals(warned.put(who, text))) {
            log.accept(text);
        }
    }

    private void count(At where) {
        counter(where).increment();
    }

    /** Refusals since the start. */
    public long refused(At where) {
        return counter(where).sum();
    }

    private LongAdder counter(At where) {
        return switch (where) {
            case RECORD -> refusedRecords;
            case ENGINE -> refusedOfEngines;
            case CONNECT -> refusedConnections;
        };
    }

    /** The source's way in, without the workers that the rules refuse; they are logged once. */
    public FleetSource.Feed feed(SourceName source, FleetSource.Feed to) {
        return source == SourceName.CONFIG ? new Trusted(to) : new Guarded(source, to);
    }

    /** By the field of the record. Nothing that this side binds: nobody is connected to there. */
    private static Map<String, Place> places(WorkerSpec spec) {
        Map<String, Place> places = new LinkedHashMap<>();
        places.put("url", Place.of(spec.url()));
        endpoint(places, "events-endpoint", spec.eventsEndpoint(), spec);
        endpoint(places, "replay-endpoint", spec.replayEndpoint(), spec);
        PoolMetadata pool = spec.pool();
        if (pool != null) {
            GuardedProbe.master(pool).ifPresent(place -> places.put(pool.key(), place));
        }
        return places;
    }

    private static void endpoint(
            Map<String, Place> places, String field, @Nullable String endpoint, WorkerSpec spec) {
        if (endpoint == null
                || endpoint.equals(EventEndpoint.POSTED)
                || (spec.eventsBind() && endpoint.startsWith("tcp:"))) {
            return;
        }
        places.put(field, Place.ofEndpoint(endpoint, spec.dpSize()));
    }

    /** Of the configuration. */
    private final class Trusted implements FleetSource.Feed {
        private final FleetSource.Feed to;

        Trusted(FleetSource.Feed to) {
            this.to = to;
        }

        @Override
        public void put(String key, WorkerSpec spec) {
            trust(spec);
            to.put(key, spec);
        }

        @Override
        public void drain(String key, String why) {
            to.drain(key, why);
        }

        @Override
        public void hold(String key, String why) {
            to.hold(key, why);
        }

        @Override
        public void remove(String key) {
            to.remove(key);
        }

        @Override
        public void replace(Map<String, WorkerSpec> all) {
            all.values().forEach(AddressGuard.this::trust);
            to.replace(all);
        }
    }

    /** Of somebody outside. */
    private final class Guarded implements FleetSource.Feed {
        private final SourceName source;
        private final FleetSource.Feed to;

        Guarded(SourceName source, FleetSource.Feed to) {
            this.source = source;
            this.to = to;
        }

        private boolean admits(String key, WorkerSpec spec) {
            Optional<String> why = refusal(spec, false);
            String who = source.word() + " " + key;
            if (why.isEmpty()) {
                warned.remove(who);
                return true;
            }
            tell(
                    who,
                    "The worker %s (told by %s) is left out: %s"
                            .formatted(spec.url(), source.word(), why.get()));
            return false;
        }

        @Override
        public void put(String key, WorkerSpec spec) {
            if (admits(key, spec)) {
                to.put(key, spec);
            } else {
                to.remove(key); // what was said of it before counts no more
            }
        }

        @Override
        public void drain(String key, String why) {
            to.drain(key, why);
        }

        @Override
        public void hold(String key, String why) {
            to.hold(key, why);
        }

        @Override
        public void remove(String key) {
            warned.remove(source.word() + " " + key);
            to.remove(key);
        }

        @Override
        public void replace(Map<String, WorkerSpec> all) {
            Map<String, WorkerSpec> admitted = new LinkedHashMap<>();
            all.forEach(
                    (key, spec) -> {
                        if (admits(key, spec)) {
                            admitted.put(key, spec);
                        }
                    });
            to.replace(admitted);
        }
    }
}
