package io.warmpath.wiring.warmup;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Lets the compiler meet the path of a request before the clients do: a second gateway from the
 * same classes, with a fleet, books and meters of its own, on loopback between a {@link Visitor}
 * and a {@link FakeEngine}. {@link #start} once; all else any thread. However it ends, it ends as
 * done: a gateway that could not be warmed up is slower at first, not worse.
 */
public final class Warmup implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(Warmup.class);

    /** For what is not a request: to listen and to connect. */
    private static final long SETUP_SECONDS = 5;

    /**
     * What the requests are for: the path of a request depends on both.
     *
     * @param model that they name
     */
    public record Target(String model, EngineKind kind) {}

    /** The gateway to warm up. */
    public interface Parts extends AutoCloseable {
        /** Puts the surface on the router, in front of this fleet, counting in these meters. */
        void mount(Router router, Fleet fleet, FlowMetrics metrics);

        @Override
        void close();
    }

    /** Requests between two looks at the compilers. */
    private static final int ROUND = 100;

    /**
     * The compilers are calm when they take less of a round than this; all of one core would be 1.
     * What is left then is spread over minutes.
     */
    private static final double CALM = 0.25;

    private final Vertx vertx;
    private final LongSupplier compileMillis;
    private final int requests;
    private final Duration time;
    private final Target target;
    private final Parts parts;
    private final Visitor visitor;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("warmpath-warm-up").unstarted(this::run);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean closed;
    private volatile int answered;

    /**
     * @param requests at the least; 0: none, done at once
     * @param time the longest that the requests may take together
     * @param compileMillis what the JVM's compilers have taken so far; never growing where it has
     *     none
     * @param parts closed at the end
     */
    public Warmup(
            Vertx vertx,
            int requests,
            Duration time,
            Target target,
            LongSupplier compileMillis,
            Parts parts) {
        this.vertx = vertx;
        this.compileMillis = compileMillis;
        this.requests = requests;
        this.time = time;
        this.target = target;
        this.parts = parts;
        this.visitor = new Visitor(target.model());
    }

    public void start() {
        if (requests == 0) {
            parts.close();
            ended.complete(null);
        } else {
            thread.start();
        }
    }

    /** There is nothing to do. */
    boolean isOff() {
        return requests == 0;
    }

    public boolean done() {
        return ended.isDone();
    }

    /** Completed when it is done, never with a failure. */
    CompletionStage<Void> ended() {
        return ended;
    }

    /** Requests that were answered as they should be. */
    public int answered() {
        return answered;
    }

    private void run() {
        long began = System.nanoTime();
        HttpServer server = null;
        try (parts;
                FakeEngine engine = new FakeEngine(target.model())) {
            Router router = Router.router(vertx);
            parts.mount(router, fleet(engine.url()), new FlowMetrics(new SimpleMeterRegistry()));
            server = listen(router);
            boolean calm = visit(server.actualPort());
            long took = (System.nanoTime() - began) / 1_000_000;
            if (calm) {
                LOG.infof(
                        "Warm for %s on %s after %d requests in %d ms",
                        target.model(), target.kind(), answered, took);
            } else {
                LOG.infof(
                        "Ready after %d requests to itself in %d ms, before its compilers were"
                                + " calm: a busy machine. First requests may be slower;"
                                + " warmpath.warmup.time is the bound",
                        answered, took);
            }
        } catch (IOException | ExecutionException | TimeoutException | RuntimeException e) {
            if (!closed) {
                LOG.warnf("The warm-up ended early, first requests will be slower: %s", e);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            end(server);
            ended.complete(null);
        }
    }

    /**
     * In rounds, until there were enough requests and the compilers have become calm.
     *
     * @return false when the time was over before
     */
    private boolean visit(int port) throws IOException {
        long end = System.nanoTime() + time.toNanos();
        int soFar = 0;
        while (true) {
            long began = System.nanoTime();
            long compiled = compileMillis.getAsLong();
            int count = soFar < requests ? Math.min(ROUND, requests - soFar) : ROUND;
            int done = visitor.visit(port, count, Duration.ofNanos(end - began));
            soFar += done;
            answered = soFar;
            long took = (System.nanoTime() - began) / 1_000_000;
            boolean calm = compileMillis.getAsLong() - compiled <= CALM * took;
            if (done < count) {
                return false;
            }
            if (calm && soFar >= requests) {
                return true;
            }
        }
    }

    private void end(@Nullable HttpServer server) {
        try {
            visitor.close();
        } catch (IOException e) {
            LOG.debug("closing the warm-up's client", e);
        }
        if (server != null) {
            server.close().onFailure(e -> LOG.debug("closing the warm-up's server", e));
        }
    }

    private HttpServer listen(Router router)
            throws ExecutionException, TimeoutException, InterruptedException {
        return vertx.createHttpServer(
                        new HttpServerOptions()
                                .setHost("127.0.0.1")
                                .setPort(0)
                                .setMaxChunkSize(64 << 10)
                                .setHttp2ClearTextEnabled(false))
                .requestHandler(
                        request -> {
                            request.pause(); // as Quarkus does
                            router.handle(request);
                        })
                .listen()
                .toCompletionStage()
                .toCompletableFuture()
                .get(SETUP_SECONDS, TimeUnit.SECONDS);
    }

    private Fleet fleet(URI engine) {
        Worker worker =
                Worker.builder(0, "warm-up", engine)
                        .kind(target.kind())
                        .models(Set.of(target.model()))
                        .blockSize(16)
                        .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                        .build();
        FleetSnapshot snapshot = new FleetSnapshot(1, List.of(worker));
        return new Fleet() {
            @Override
            public FleetSnapshot snapshot() {
                return snapshot;
            }

            @Override
            public void reportFailure(long workerId) {
                LOG.debugf("the warm-up's engine failed");
            }
        };
    }

    /** Ends a warm-up that still runs, and waits for that. */
    @Override
    public void close() {
        closed = true;
        if (!thread.isAlive()) {
            return;
        }
        thread.interrupt();
        try {
            visitor.close();
            if (!thread.join(Duration.ofSeconds(SETUP_SECONDS))) {
                LOG.warn("The warm-up did not end in time");
            }
        } catch (IOException e) {
            LOG.debug("closing the warm-up's client", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
