package io.warmpath.wiring.session;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsReplicaLink;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.fleet.Fleet;
import io.warmpath.load.BookingListener;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.replica.ChangeQueue;
import io.warmpath.replica.PeerWork;
import io.warmpath.replica.ReplicaLog;
import io.warmpath.replica.ReplicaLoop;
import io.warmpath.replica.ReplicaOptions;
import io.warmpath.replica.ReplicaSync;
import io.warmpath.replica.SessionViews;
import io.warmpath.routing.Router;
import io.warmpath.routing.rates.Sent;
import io.warmpath.telemetry.ReplicaMeters;
import io.warmpath.wiring.events.NatsParts;
import io.warmpath.wiring.settings.StartFailure;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The sync with other gateways, when it is configured. It has a NATS connection of its own: what it
 * says is worth milliseconds, and must not wait behind events. {@link #start} and {@link #close}
 * once each.
 */
public final class ReplicaParts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(ReplicaParts.class);

    /** Changes within a millisecond, many times over. */
    private static final int QUEUE = 1 << 15;

    private static final ReplicaLog LOGGED =
            new ReplicaLog() {
                @Override
                public void info(String text) {
                    LOG.info(text);
                }

                @Override
                public void warn(String text) {
                    LOG.warn(text);
                }
            };

    private final WarmpathConfig config;
    private final SecureRandom random = new SecureRandom();
    private final ReplicaLoop loop = new ReplicaLoop();
    private final @Nullable ChangeQueue queue;
    private final @Nullable SessionViews sessions;
    private @Nullable ReplicaSync sync;
    private @Nullable NatsLink link;
    private @Nullable NatsReplicaLink replicaLink;

    public ReplicaParts(WarmpathConfig config) {
        this.config = config;
        queue = config.replica().sync() ? new ChangeQueue(QUEUE, loop::wake) : null;
        sessions = queue != null && config.session().affinityTtl().isPresent() ? views() : null;
    }

    /** Of the sessions that are shared; null: they are not. */
    public @Nullable SessionViews sessions() {
        return sessions;
    }

    /** Of the book that is shared. */
    public BookingListener listener() {
        return queue == null ? BookingListener.NONE : queue;
    }

    /** Keys the names of blocks: gateways that talk have the same. */
    public long secret() {
        if (queue == null) {
            return random.nextLong();
        }
        return hash("names", common());
    }

    /** What all gateways that talk have the same. */
    private String common() {
        String own = config.replica().secret().orElse("");
        return own.isEmpty() ? config.nats().namespace() + '\n' + config.nats().component() : own;
    }

    private SessionViews views() {
        XXHash64 hash = XXHashFactory.fastestJavaInstance().hash64();
        long[] seeds = {hash("sessions 0", common()), hash("sessions 1", common())};
        return new SessionViews((bytes, half) -> hash.hash(bytes, 0, bytes.length, seeds[half]));
    }

    /**
     * Everything but the traffic.
     *
     * @param router told of what others have sent
     * @param freed called when load of others went down
     * @throws StartFailure naming what cannot be
     */
    public void build(
            LoadTracker load, Router router, Fleet fleet, Runnable freed, MeterRegistry meters) {
        ChangeQueue changes = queue;
        if (changes == null) {
            return;
        }
        String id = NatsParts.routerId(config.nats(), config.http().port());
        ReplicaOptions options =
                new ReplicaOptions(
                        hash("id", id), random.nextLong(), id, config.replica().maxAge());
        try {
            link = NatsLink.open(NatsParts.options(config.nats()), "warmpath replica sync", false);
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.nats: " + e.getMessage() + ".");
        }
        NatsReplicaLink nats =
                new NatsReplicaLink(
                        link,
                        NatsParts.names(config.nats()).replicas(),
                        message -> {
                            ReplicaSync to = sync;
                            if (to != null) {
                                to.received(message);
                            }
                        });
        replicaLink = nats;
        ReplicaSync built =
                new ReplicaSync(
                        options,
                        load,
                        work(router),
                        changes,
                        fleet,
                        nats,
                        System::nanoTime,
                        freed,
                        LOGGED,
                        sessions);
        sync = built;
        ReplicaMeters.bind(meters, built);
    }

    private static PeerWork work(Router router) {
        return new PeerWork() {
            @Override
            public void among(int place, int gateways) {
                router.among(place, gateways);
            }

            @Override
            public Running began(
                    WorkerSlot slot,
                    int prefillTokens,
                    int promptTokens,
                    int expectedOutput,
                    boolean prefilled) {
                Sent sent =
                        router.sentByPeer(
                                slot, prefillTokens, promptTokens, expectedOutput, prefilled);
                return new Running() {
                    @Override
                    public void firstToken() {
                        sent.firstToken();
                    }

                    @Override
                    public void ended() {
                        sent.ended(-1);
                    }
                };
            }
        };
    }

    /** Null: each gateway for itself. */
    public @Nullable ReplicaSync sync() {
        return sync;
    }

    public void start() {
        if (replicaLink != null && sync != null) {
            replicaLink.start();
            loop.start(sync::tick, LOGGED);
        }
    }

    private static long hash(String purpose, String text) {
        try {
            byte[] all =
                    ("warmpath replica " + purpose + '\n' + text).getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(all)).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    @Override
    public void close() {
        loop.close();
        if (sync != null) {
            sync.close();
        }
        if (replicaLink != null) {
            replicaLink.close();
        }
        if (link != null) {
            link.close();
        }
    }
}
