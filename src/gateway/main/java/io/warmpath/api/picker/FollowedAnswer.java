package io.warmpath.api.picker;

import io.warmpath.api.extproc.ProcessingRequest;
import io.warmpath.api.extproc.ProcessingRequest.Kind;
import io.warmpath.api.extproc.ProcessingRequest.Modes;
import io.warmpath.api.extproc.ProcessingResponse;
import io.warmpath.api.extproc.WireFormatException;
import io.warmpath.net.HeaderList;
import java.util.List;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * An engine's answer on its way from the proxy to the client: each message of it goes back to the
 * proxy unchanged, and on to whoever listens to the engine. On the request's event loop.
 */
final class FollowedAnswer {
    private static final Logger LOG = Logger.getLogger(FollowedAnswer.class);

    /** A proxy says with it how long the engine took, and leaves it out of its own answers. */
    private static final String ENGINE_TIME = "x-envoy-upstream-service-time";

    /** Conformance tests read from it which endpoint the proxy has reported. */
    private static final String SERVED = "x-conformance-test-served-endpoint";

    private static final byte[] NOTHING = {};

    /** The request. */
    interface Request {
        String requestId();

        /** For the client, beside the engine's own. */
        HeaderList extra();

        /** All of the answer has come. */
        void answered();

        /** The answer is the proxy's own. */
        void gone();
    }

    private final PickerParts parts;
    private final Endpoints endpoints;
    private final GrpcCall call;
    private final Request request;
    private @Nullable ProxiedEngine engine;
    private String destination = "";
    private boolean begun;
    private boolean seen;
    private int status = 200;

    FollowedAnswer(PickerParts parts, Endpoints endpoints, GrpcCall call, Request request) {
        this.parts = parts;
        this.endpoints = endpoints;
        this.call = call;
        this.request = request;
    }

    /**
     * The proxy has been told to send the request. {@code to}: where to, as in {@link Endpoints}.
     */
    void isOf(ProxiedEngine from, String to) {
        engine = from;
        destination = to;
    }

    /** Nobody listens any more. */
    void leave() {
        engine = null;
    }

    /** The proxy has told of an answer, its own or the engine's. */
    boolean isSeen() {
        return seen;
    }

    boolean hasBegun() {
        return begun;
    }

    /** 200 while none was seen. */
    int status() {
        return status;
    }

    void answeredBy(int own) {
        status = own;
    }

    void head(ProcessingRequest news) {
        ProxiedEngine from = engine;
        boolean first = !seen;
        seen = true;
        if (first && from != null) {
            HeaderList answer = answer(news);
            String served = news.served();
            if (status >= 500 && served == null && !answer.contains(ENGINE_TIME)) {
                engine = null; // the proxy's own: what befell the worker, health checks will say
            } else {
                begun = true;
                tellServed(from, served);
                from.head(status, answer);
            }
        }
        HeaderList extra = request.extra();
        call.send(
                extra.isEmpty()
                        ? ProcessingResponse.unchanged(Kind.RESPONSE_HEADERS)
                        : ProcessingResponse.headers(Kind.RESPONSE_HEADERS, extra));
        if (!begun) {
            request.gone();
        } else if (news.endOfStream()) {
            end(NOTHING, 0, 0);
        }
    }

    private static int status(String told) {
        try {
            return Integer.parseInt(told);
        } catch (NumberFormatException e) {
            throw new WireFormatException("a status that is no number");
        }
    }

    private HeaderList answer(ProcessingRequest news) {
        HeaderList answer = new HeaderList();
        for (int i = 0; i < news.headers().size(); i++) {
            String name = news.headers().name(i);
            if (name.equals(":status")) {
                status = status(news.headers().value(i));
            } else if (!name.startsWith(":")) {
                answer.add(name, news.headers().value(i));
            }
        }
        return answer;
    }

    private void tellServed(ProxiedEngine from, @Nullable String served) {
        if (served == null) {
            parts.meters().servedUnknown.increment();
            return;
        }
        if (parts.options().testHeaders()) {
            request.extra().set(SERVED, served);
        }
        if (!served.equals(destination)) {
            parts.meters().servedElsewhere.increment();
            LOG.debugf("%s was answered by %s, not %s", request.requestId(), served, destination);
            endpoints.workers(List.of(served)).stream().limit(1).forEach(from::answeredBy);
        }
    }

    void body(ProcessingRequest news, Modes modes) {
        byte[] b = news.array();
        int from = news.from();
        int length = news.length();
        boolean end = news.endOfStream();
        call.send(
                modes.response().isDuplex()
                        ? ProcessingResponse.piece(Kind.RESPONSE_BODY, b, from, length, end)
                        : ProcessingResponse.unchanged(Kind.RESPONSE_BODY));
        ProxiedEngine to = engine;
        if (end) {
            end(b, from, length);
        } else if (begun && to != null && length > 0) {
            to.data(b, from, length);
        }
    }

    void trailers() {
        call.send(ProcessingResponse.unchanged(Kind.RESPONSE_TRAILERS));
        end(NOTHING, 0, 0);
    }

    /** The proxy tells no more. */
    void end() {
        end(NOTHING, 0, 0);
    }

    private void end(byte[] b, int from, int length) {
        ProxiedEngine to = engine;
        if (begun && to != null) {
            engine = null;
            request.answered();
            to.end(b, from, length);
        }
    }
}
