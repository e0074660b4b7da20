package io.warmpath.api.inference;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.connection.ClientRequest;
import io.warmpath.api.connection.Refusals;
import io.warmpath.api.hints.RoutingHints;
import io.warmpath.api.request.InferencePath;
import io.warmpath.api.request.RequestParser;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.gateway.request.Visits;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Reads bodies that would hold up an event loop on the tokenising threads. Reading takes about a
 * nanosecond for a byte, up to four for scripts other than Latin ones. Event loops only.
 */
final class LongBodies {
    private static final Logger LOG = Logger.getLogger(LongBodies.class);

    /** Longer ones take the lane that nobody waits for. */
    private static final int BRIEF_BYTES = 1 << 20;

    private final TokenLanes threads;
    private final boolean texts;
    private final boolean handOff;
    private final Objectives objectives;
    private final FlowMetrics metrics;

    /**
     * @param texts whether the texts of chats are looked at
     * @param handOff whether all clients may say what acts on engines
     * @param objectives that clients may name
     */
    LongBodies(
            TokenLanes threads,
            boolean texts,
            boolean handOff,
            Objectives objectives,
            FlowMetrics metrics) {
        this.threads = threads;
        this.texts = texts;
        this.handOff = handOff;
        this.objectives = objectives;
        this.metrics = metrics;
    }

    /** Starts a request that has been read; answers what to do when its client leaves. */
    interface Start {
        Runnable start(InferenceRequest parsed);
    }

    /**
     * @return what to do when the client leaves
     * @throws GatewayException a short body is wrong; a long one is refused here
     */
    Runnable read(
            Context context,
            ClientRequest client,
            String requestId,
            InferencePath path,
            Buffer body,
            Start start) {
        String target = path.target(client.query());
        RequestParser.Terms terms =
                new RequestParser.Terms(
                        RoutingHints.wantsExplanation(client.headers()),
                        texts,
                        handOff || Visits.mayHandOff(context),
                        objectives);
        if (body.length() > RequestParser.SHORT_BYTES) {
            Reading reading = new Reading(context, client, requestId, start);
            // A copy: the request's own belongs to its event loop.
            MultiMap headers = MultiMap.caseInsensitiveMultiMap().addAll(client.headers());
            Runnable work =
                    () ->
                            reading.parse(
                                    () ->
                                            RequestParser.parse(
                                                    path.endpoint(),
                                                    requestId,
                                                    target,
                                                    headers,
                                                    body,
                                                    terms));
            try {
                if (body.length() > BRIEF_BYTES) {
                    threads.lengthy(work);
                } else {
                    threads.brief(work);
                }
                return reading::leave;
            } catch (RejectedExecutionException e) {
                LOG.debugf("%s is read on its event loop: all threads are busy", requestId);
            }
        }
        return start.start(
                RequestParser.parse(
                        path.endpoint(), requestId, target, client.headers(), body, terms));
    }

    /** One body on its way. */
    private final class Reading {
        private final Context context;
        private final ClientRequest client;
        private final String requestId;
        private final Start start;

        // Event loop only.
        private @Nullable Runnable started;
        private boolean over;

        Reading(Context context, ClientRequest client, String requestId, Start start) {
            this.context = context;
            this.client = client;
            this.requestId = requestId;
            this.start = start;
        }

        interface Parse {
            InferenceRequest get();
        }

        /** On a tokenising thread; lets nothing out. */
        void parse(Parse parse) {
            try {
                InferenceRequest parsed = parse.get();
                context.runOnContext(v -> begin(parsed));
            } catch (GatewayException e) {
                context.runOnContext(v -> refuse(e.error()));
            } catch (RuntimeException | LinkageError e) {
                context.runOnContext(v -> bug(e));
            }
        }

        private void begin(InferenceRequest parsed) {
            if (over) {
                return; // its client has left
            }
            try {
                started = start.start(parsed);
            } catch (GatewayException e) {
                refuse(e.error());
            } catch (RuntimeException e) {
                bug(e);
            }
        }

        private void bug(Throwable cause) {
            LOG.errorf(cause, "request %s failed by a bug in the gateway", requestId);
            refuse(new GatewayError.Internal(requestId));
        }

        private void refuse(GatewayError error) {
            if (!over) {
                over = true;
                metrics.rejected();
                metrics.refused(Refusals.of(client, requestId, error));
                client.refuse(error, requestId);
            }
        }

        void leave() {
            Runnable running = started;
            if (running != null) {
                running.run();
            } else if (!over) {
                over = true;
                metrics.cancelledEarly();
            }
        }
    }
}
