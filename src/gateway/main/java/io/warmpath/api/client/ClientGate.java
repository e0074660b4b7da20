package io.warmpath.api.client;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.warmpath.access.Authenticator;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.access.Verdict;
import io.warmpath.access.Visit;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.connection.ClientRequest;
import io.warmpath.api.connection.Refusals;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.error.RequestIds;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.request.Visits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Who may come in: asked inside the handlers of every endpoint for clients, after routing and
 * before a body is read. On the request's event loop; immutable. What a client has shown is taken
 * out of its headers here, so that nobody behind can pass it on or log it.
 */
public final class ClientGate {
    private static final Logger LOG = Logger.getLogger(ClientGate.class);

    /** Lets everybody in and changes nothing. */
    public static final ClientGate OPEN = new ClientGate(null, false);

    private static final String BEARER = "bearer ";
    private static final String API_KEY = "x-api-key";
    private static final String TENANT = "x-tenant-id";
    private static final String EXPLAIN = "x-warmpath-explain";

    /** Headers that may be taken out of a request here. */
    public static final List<String> SHOWN = List.of("authorization", API_KEY, TENANT);

    /** A client that sends a body may do so for this long after it was refused. */
    private static final long LINGER_MILLIS = Duration.ofSeconds(1).toMillis();

    private static final GatewayError NOTHING_SHOWN =
            new GatewayError.Unauthorized(
                    "You did not provide an API key; send it as `Authorization: Bearer KEY` or"
                            + " `x-api-key: KEY`.");

    /** Two readers could take either, and one of them may be a proxy that has checked its own. */
    private static final GatewayError TWO_SHOWN =
            new GatewayError.BadRequest(
                    "",
                    "The request shows two credentials; send one `Authorization` or `x-api-key`.");

    private final @Nullable Authenticator clients;
    private final boolean forward;

    private ClientGate(@Nullable Authenticator clients, boolean forward) {
        this.clients = clients;
        this.forward = forward;
    }

    /** {@code forward}: what a client has shown is passed on to engines. */
    public static ClientGate of(Authenticator clients, boolean forward) {
        return new ClientGate(clients, forward);
    }

    /** What there is to be done for whoever may come in; on the request's event loop. */
    public interface Next {
        /** {@code visit}: null: there are no limits. */
        void on(@Nullable Visit visit);
    }

    /** Nobody has to show anything. */
    public boolean isOpen() {
        return clients == null;
    }

    /**
     * Lets in or answers.
     *
     * @param metrics is told of those who are refused
     * @param charged the request costs tokens
     */
    public void enter(
            ClientRequest request,
            RequestIds ids,
            FlowMetrics metrics,
            boolean charged,
            Next next) {
        if (request.headers().getAll("authorization").size() > 1) {
            refuse(request, ids, metrics, TWO_SHOWN);
            return;
        }
        if (clients == null) {
            next.on(null);
            return;
        }
        if (showsTwo(request.headers())) {
            refuse(request, ids, metrics, TWO_SHOWN);
            return;
        }
        String credential = credential(request.headers());
        if (credential.isEmpty()) {
            refuse(request, ids, metrics, NOTHING_SHOWN);
            return;
        }
        decided(clients.check(credential), request, ids, metrics, charged, next);
    }

    private void decided(
            Verdict verdict,
            ClientRequest request,
            RequestIds ids,
            FlowMetrics metrics,
            boolean charged,
            Next next) {
        switch (verdict) {
            case Caller caller -> {
                try {
                    Visit visit = admit(caller, request, charged);
                    next.on(visit);
                } catch (Refusal e) {
                    refuse(request, ids, metrics, e.error);
                }
            }
            case Verdict.Refused refused ->
                    refuse(request, ids, metrics, new GatewayError.Unauthorized(refused.why()));
            case Verdict.Busy busy ->
                    refuse(
                            request,
                            ids,
                            metrics,
                            new GatewayError.Overloaded(503, busy.why(), Duration.ofSeconds(1)));
            case Verdict.Later later -> {
                Context context = VertxRequest.context();
                later.verdict()
                        .whenComplete(
                                (known, failure) -> {
                                    Verdict now = known == null ? bug(failure) : known;
                                    context.runOnContext(
                                            v -> {
                                                if (!request.isGone()) {
                                                    decided(
                                                            now, request, ids, metrics, charged,
                                                            next);
                                                }
                                            });
                                });
            }
        }
    }

    private static Verdict bug(@Nullable Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException e && e.getCause() != null
                        ? e.getCause()
                        : failure;
        LOG.error("a token could not be checked", cause);
        return new Verdict.Refused("The token could not be checked; try again.");
    }

    private static final class Refusal extends Exception {
        private final transient GatewayError error;

        Refusal(GatewayError error) {
            super(error.message(), null, false, false); // an answer, no trace
            this.error = error;
        }
    }

    private Visit admit(Caller caller, ClientRequest request, boolean charged) throws Refusal {
        MultiMap headers = request.headers();
        Visit visit = new Visit(caller, tenant(caller.grant(), headers));
        Visits.put(VertxRequest.context(), visit); // a refusal is its tenant's too
        long length = BodyReceiver.contentLength(headers);
        Visit.Exceeded exceeded = visit.enter(charged ? Math.max(0, length) : -1);
        visit.tell(request::putHeader);
        if (exceeded != null) {
            throw new Refusal(BodyReceiver.rateLimited(exceeded));
        }
        headers.remove(TENANT);
        if (!caller.grant().explain()) {
            headers.remove(EXPLAIN);
        }
        if (!forward) {
            hide(headers);
        }
        if (charged && caller.tokens() != null) {
            request.onEnd(
                    status -> {
                        if (status >= 400) {
                            visit.unused();
                        }
                    });
        }
        return visit;
    }

    /** Takes out what says who asks. */
    static void hide(MultiMap headers) {
        headers.remove("authorization");
        headers.remove(API_KEY);
    }

    private static String tenant(Grant grant, MultiMap headers) throws Refusal {
        String named = headers.get(TENANT);
        if (named == null || named.equals(grant.tenant())) {
            return grant.tenant();
        }
        if (!grant.namesTenants()) {
            throw new Refusal(
                    new GatewayError.Forbidden(
                            "This API key may not act for the tenant in x-tenant-id; leave the"
                                    + " header out."));
        }
        if (!Grant.isTenant(named)) {
            throw new Refusal(
                    new GatewayError.BadRequest(
                            TENANT,
                            "The header `x-tenant-id` has 1 to 128 letters, digits and the"
                                    + " characters . _ @ / -"));
        }
        return named;
    }

    private static boolean showsTwo(MultiMap headers) {
        String key = headers.get(API_KEY);
        String bearer = bearer(headers);
        return key != null
                && (headers.getAll(API_KEY).size() > 1
                        || !(bearer.isEmpty() || bearer.equals(key.strip())));
    }

    /** Empty when there is none. */
    private static String credential(MultiMap headers) {
        String bearer = bearer(headers);
        String key = headers.get(API_KEY);
        return bearer.isEmpty() && key != null ? key.strip() : bearer;
    }

    private static String bearer(MultiMap headers) {
        String shown = headers.get("authorization");
        return shown != null && shown.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? shown.substring(BEARER.length()).strip()
                : "";
    }

    private static void refuse(
            ClientRequest request, RequestIds ids, FlowMetrics metrics, GatewayError error) {
        String id = ids.of(request.headers());
        metrics.refused(Refusals.of(request, id, error));
        request.refuse(error, id);
        request.discard(LINGER_MILLIS);
    }
}
