package io.warmpath.api.picker;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.access.Visit;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.connection.ClientRequest;
import io.warmpath.api.connection.RawRequests;
import io.warmpath.api.connection.Refusals;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.extproc.BodyMode;
import io.warmpath.api.extproc.HeadTooLargeException;
import io.warmpath.api.extproc.ProcessingRequest;
import io.warmpath.api.extproc.ProcessingRequest.Kind;
import io.warmpath.api.extproc.ProcessingRequest.Modes;
import io.warmpath.api.extproc.ProcessingResponse;
import io.warmpath.api.extproc.WireFormatException;
import io.warmpath.api.picker.PickerMeters.Outcome;
import io.warmpath.api.request.InferencePath;
import io.warmpath.api.request.RequestParser;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.Sender;
import io.warmpath.net.HeaderList;
import io.warmpath.net.HeapBytes;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.UpstreamRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One request of a proxy's client, as the proxy tells of it: read and decided as one that comes to
 * the gateway itself, then sent by the proxy, whose news of the answer are handed to whatever
 * listens to the engine. On the event loop of the proxy's connection.
 *
 * <pre>
 * phase      event                              next      what goes to the proxy
 * ARRIVING   body whole, or not to be looked at DECIDING  in BUFFERED, the headers' answer first
 * DECIDING   an engine was chosen               SENT      where to, and the body
 * ARRIVING,  refused                            ANSWERED  the refusal, at once
 * DECIDING
 * SENT       head of the engine's answer        SENT      each message of it, unchanged
 * SENT       its end                            ANSWERED
 * any        the stream is over                 ANSWERED
 * </pre>
 *
 * <p>A request that is no inference, or for a model that nobody is known to serve, is the engine's
 * to judge: it goes to one that has room. One that is inference and cannot be read is refused, as
 * it is where it comes here itself: it may hold what engines do not take from clients.
 */
final class PickerStream
        implements GrpcCall.Listener,
                ClientRequest,
                Sender,
                ProxiedAnswer.Proxy,
                ProxiedEngine.Proxy,
                FollowedAnswer.Request {
    private static final Logger LOG = Logger.getLogger(PickerStream.class);

    /** Names of endpoints that conformance tests want to be chosen. */
    private static final String SELECT = "test-epp-endpoint-selection";

    private static final int TOO_MANY_REQUESTS = 429;

    /**
     * A header's two texts and its places in lists, on the heap; a name of an endpoint likewise.
     */
    private static final int HEADER_BYTES = 128;

    /** A client may take its time while the proxy gathers its body: five minutes, by default. */
    private static final int SPANS_OF_BUFFERING = 15;

    private enum Phase {
        ARRIVING,
        DECIDING,
        SENT,
        ANSWERED
    }

    private final PickerParts parts;
    private final Endpoints endpoints;
    private final Unlearnt unlearnt;
    private final RawRequests running;
    private final GrpcCall call;
    private final ArrivedBody body;
    private final BodyMemory.Reservation told; // for the head
    private final FollowedAnswer followed;
    private final boolean counted;

    private Phase phase = Phase.ARRIVING;
    private Modes modes = Modes.DUPLEX;

    // The request.
    private RequestHead head = new RequestHead(new HeaderList());
    private String requestId = "";
    private @Nullable InferencePath api; // null: its body is not looked at
    private @Nullable List<String> subset;
    private Set<Long> workers = Set.of();
    private @Nullable Visit visit;
    private boolean known; // its headers have come
    private boolean bodyless;
    private boolean admitted;
    private boolean headersAnswered;
    private boolean ended; // nothing of it follows
    private boolean trailers;
    private boolean byLoad;
    private long since;
    private int decisions;
    private @Nullable Runnable leave;

    // The answer.
    private final HeaderList extra = new HeaderList();
    private @Nullable ProxiedEngine engine;
    private @Nullable IntConsumer atEnd;
    private Unlearnt.@Nullable Chosen blind;

    PickerStream(
            PickerParts parts,
            Endpoints endpoints,
            Unlearnt unlearnt,
            RawRequests running,
            Calls calls,
            HttpServerRequest request) {
        this.parts = parts;
        this.endpoints = endpoints;
        this.unlearnt = unlearnt;
        this.running = running;
        this.body = new ArrivedBody(parts.bodies().reserve());
        this.told = parts.bodies().reserve();
        this.since = parts.nanoTime().getAsLong();
        counted = running.enter();
        parts.meters().opened();
        this.call = new GrpcCall(request, calls, parts.options().messageBytes(), this);
        this.followed = new FollowedAnswer(parts, endpoints, call, this);
    }

    @Override
    public void message(byte[] b, int from, int length) {
        ProcessingRequest news;
        try {
            news = ProcessingRequest.read(b, from, length);
        } catch (HeadTooLargeException e) {
            if (known || phase != Phase.ARRIVING) {
                throw e;
            }
            known = true;
            ended = true;
            reject(new GatewayError.NotHttp(431, "The request's headers are too long together."));
            return;
        } catch (WireFormatException e) {
            parts.meters().malformed.increment();
            throw e;
        }
        parts.meters().message(news.kind());
        if (news.modes() != null) {
            modes = news.modes();
        }
        try {
            switch (news.kind()) {
                case REQUEST_HEADERS -> head(news, length);
                case REQUEST_BODY -> body(news);
                case REQUEST_TRAILERS -> trailers();
                case RESPONSE_HEADERS -> followed.head(news);
                case RESPONSE_BODY -> followed.body(news, modes);
                case RESPONSE_TRAILERS -> followed.trailers();
            }
        } catch (WireFormatException e) {
            parts.meters().malformed.increment();
            throw e;
        } catch (RuntimeException e) {
            LOG.errorf(e, "request %s of a proxy failed by a bug in the gateway", requestId);
            reject(new GatewayError.Internal(requestId));
        }
    }

    // ---- the request

    /** {@code bytes}: of the message. */
    private void head(ProcessingRequest news, int bytes) {
        if (known) {
            return;
        }
        known = true;
        subset = news.subset();
        int texts = news.headers().size() + (subset == null ? 0 : subset.size());
        if (!told.take(bytes + HEADER_BYTES * texts)) {
            ended = true;
            subset = null;
            parts.metrics().noMemory();
            reject(BodyReceiver.noRoom(parts.options().retryAfter()));
            return;
        }
        since = parts.nanoTime().getAsLong();
        head = new RequestHead(news.headers());
        requestId = parts.ids().of(head.headers());
        bodyless = news.endOfStream();
        ended = bodyless;
        api =
                !ended && modes.request().isWhole() && head.isPost()
                        ? InferencePath.find(head.path())
                        : null;
        String selected = head.headers().get(SELECT);
        if (parts.options().testHeaders() && selected != null) {
            subset = Arrays.stream(selected.split(",", -1)).map(String::strip).toList();
        }
        parts.gate()
                .enter(
                        this,
                        parts.ids(),
                        parts.metrics(),
                        api != null,
                        caller -> {
                            visit = caller;
                            admitted = true;
                            goOn();
                        });
    }

    private void body(ProcessingRequest news) {
        if (ended) {
            parts.meters().repeatedBodies.increment(); // some proxies repeat the last one
            return;
        }
        ended = news.endOfStream() || modes.request() == BodyMode.BUFFERED;
        if (phase == Phase.SENT) {
            pass(news);
        } else if (phase != Phase.ANSWERED && keep(news) && ended) {
            goOn();
        }
    }

    /** It is on its way already: by its headers alone. */
    private void pass(ProcessingRequest news) {
        if (modes.request().isDuplex()) {
            pieces(news.array(), news.from(), news.length(), news.endOfStream());
        } else {
            call.send(ProcessingResponse.unchanged(Kind.REQUEST_BODY));
        }
    }

    /**
     * @return false: it was refused
     */
    private boolean keep(ProcessingRequest news) {
        if (!body.add(news)) {
            parts.metrics().noMemory();
            reject(BodyReceiver.noRoom(parts.options().retryAfter()));
            return false;
        }
        if (body.length() > parts.options().bodyBytes()) {
            reject(new GatewayError.BodyTooLarge(parts.options().bodyBytes()));
            return false;
        }
        Visit.Exceeded exceeded = visit == null ? null : visit.reserve(body.length());
        if (visit != null && exceeded != null) {
            visit.tell(this::putHeader);
            reject(BodyReceiver.rateLimited(exceeded));
            return false;
        }
        return true;
    }

    private void trailers() {
        if (phase == Phase.SENT) {
            ended = true;
            call.send(ProcessingResponse.unchanged(Kind.REQUEST_TRAILERS));
            return;
        }
        trailers = true;
        if (!ended) {
            ended = true;
            goOn();
        }
    }

    private void goOn() {
        if (!admitted || phase != Phase.ARRIVING) {
            return;
        }
        if (subset != null) {
            workers = endpoints.workers(subset);
            if (workers.isEmpty()) {
                reject(
                        new GatewayError.NoHealthyWorker(
                                "",
                                parts.options().retryAfter(),
                                "none of the endpoints that the proxy allows is a worker here"));
                return;
            }
        }
        if (api == null && head.isDisguised()) {
            reject(InvalidRequest.NOT_CANONICAL);
            return;
        }
        InferencePath reads = api;
        if (reads == null || (ended && body.asksNothing())) {
            byLoad();
        } else if (ended) {
            parts.meters().bodyWaited(parts.nanoTime().getAsLong() - since);
            since = parts.nanoTime().getAsLong();
            decide(reads, body.buffer());
        } else if (modes.request() == BodyMode.BUFFERED && !headersAnswered) {
            headersAnswered = true; // its body comes after that
            call.send(ProcessingResponse.unchanged(Kind.REQUEST_HEADERS));
        }
    }

    private void decide(InferencePath reads, Buffer bytes) {
        phase = Phase.DECIDING;
        Sender.put(call.context(), this);
        body.memory().belongsTo(call.context());
        int mine = ++decisions; // a refusal may begin another one before this one has begun
        try {
            Runnable leaves =
                    parts.inference().read(call.context(), this, requestId, reads, bytes, () -> {});
            if (mine == decisions) {
                leave = leaves;
            }
        } catch (GatewayException e) {
            reject(e.error());
        }
    }

    /** Chosen as any other, for a prompt of which nothing is known. */
    private void byLoad() {
        byLoad = true;
        String model =
                new AnyModel(parts.fleet(), parts.random()).of(head.headers(), workers, visit);
        if (model == null) {
            if (!blindly()) {
                reject(new GatewayError.NoHealthyWorker("", parts.options().retryAfter()));
            }
            return;
        }
        head.headers().remove("content-type"); // of a body that is not what is read here
        String text = new String(JsonStringEncoder.getInstance().quoteAsString(model));
        decide(
                new InferencePath(head.path(), RequestParser.Endpoint.OTHER),
                Buffer.buffer("{\"model\":\"" + text + "\"}"));
    }

    /**
     * To an endpoint of which nothing is known but that it is there; not where keys are checked, as
     * what this client may use is not known either.
     *
     * @return false: there is none
     */
    private boolean blindly() {
        Unlearnt.Chosen chosen = visit == null ? unlearnt.choose(workers) : null;
        if (chosen == null) {
            return false;
        }
        blind = chosen;
        phase = Phase.SENT;
        followed.isOf(new ProxiedEngine(this), chosen.endpoint()); // to which nobody listens
        tellProxy(
                new ProcessingResponse.Pick(
                        chosen.endpoint(),
                        new HeaderList(),
                        head.removed(MultiMap.caseInsensitiveMultiMap())),
                null);
        parts.meters().outcome(Outcome.UNLEARNT);
        return true;
    }

    // ---- as its sender

    @Override
    public EngineClient engines() {
        ProxiedEngine mine = new ProxiedEngine(this);
        engine = mine;
        return parts.keyed().apply(mine);
    }

    @Override
    public Set<Long> workers() {
        return workers;
    }

    @Override
    public int fallbacks() {
        return parts.options().fallbacks();
    }

    @Override
    public void send(UpstreamRequest chosen) {
        if (phase != Phase.DECIDING) {
            throw new IllegalStateException("sent in phase " + phase);
        }
        phase = Phase.SENT;
        String destination = Endpoints.of(chosen.base());
        followed.isOf(Objects.requireNonNull(engine), destination);
        tellProxy(
                new ProcessingResponse.Pick(
                        Stream.concat(
                                        Stream.of(destination),
                                        chosen.others().stream().map(Endpoints::of))
                                .collect(Collectors.joining(",")),
                        head.set(chosen),
                        head.removed(chosen.extra())),
                byLoad ? null : body.unlessSame(chosen.body()));
        parts.meters().outcome(byLoad ? Outcome.BY_LOAD : Outcome.PICKED);
    }

    /** Where to, and the body. {@code changed}: in place of what has come; null: as it is. */
    private void tellProxy(ProcessingResponse.Pick pick, @Nullable HeapBytes changed) {
        boolean duplex = modes.request().isDuplex();
        call.send(
                ProcessingResponse.pick(
                        headersAnswered ? Kind.REQUEST_BODY : Kind.REQUEST_HEADERS,
                        pick,
                        duplex || changed == null ? null : whole(changed)));
        if (duplex) {
            HeapBytes sent = changed == null ? body.asItCame() : changed;
            if (!bodyless && (sent.length() > 0 || (ended && !trailers))) {
                pieces(sent.array(), sent.offset(), sent.length(), ended && !trailers);
            }
            if (trailers) {
                call.send(ProcessingResponse.unchanged(Kind.REQUEST_TRAILERS));
            }
        }
        body.forget();
        parts.meters().decided(parts.nanoTime().getAsLong() - since);
    }

    private static byte[] whole(HeapBytes bytes) {
        return Arrays.copyOfRange(bytes.array(), bytes.offset(), bytes.offset() + bytes.length());
    }

    private void pieces(byte[] b, int from, int length, boolean end) {
        int at = from;
        int left = length;
        do {
            int piece = Math.min(left, parts.options().pieceBytes());
            left -= piece;
            call.send(ProcessingResponse.piece(Kind.REQUEST_BODY, b, at, piece, end && left == 0));
            at += piece;
        } while (left > 0);
    }

    // ---- the answer

    @Override
    public String requestId() {
        return requestId;
    }

    @Override
    public HeaderList extra() {
        return extra;
    }

    @Override
    public void answered() {
        phase = Phase.ANSWERED;
    }

    @Override
    public int patience() {
        boolean owes = phase == Phase.ARRIVING && !ended;
        if (phase == Phase.ANSWERED || (owes && (!known || modes.request().isDuplex()))) {
            return 1;
        }
        return owes && headersAnswered ? SPANS_OF_BUFFERING : 0;
    }

    @Override
    public boolean runs() {
        return phase == Phase.SENT;
    }

    @Override
    public void silent() {
        if (phase == Phase.ANSWERED) {
            call.end(GrpcCall.OK, "");
        } else if (known) {
            reject(new GatewayError.BodyTooSlow(parts.options().span()));
        } else {
            call.end(GrpcCall.DEADLINE_EXCEEDED, "no request was told of");
        }
    }

    @Override
    public void over() {
        call.left(phase != Phase.ANSWERED && !followed.isSeen());
        body.free();
        told.free();
        if (followed.hasBegun() && modes.response() == BodyMode.NONE) {
            followed.end(); // the proxy tells no more than the head
        } else {
            gone();
        }
        parts.meters().closed();
        if (blind != null) {
            blind.giveBack();
        }
        if (counted) {
            running.exit();
        }
        IntConsumer action = atEnd;
        atEnd = null;
        if (action != null) {
            action.accept(followed.status());
        }
    }

    /** Nobody waits for an answer any more, or it is not the engine's. */
    @Override
    public void gone() {
        if (phase == Phase.ANSWERED) {
            return;
        }
        if (phase != Phase.SENT) {
            parts.meters().outcome(Outcome.CANCELLED);
        }
        phase = Phase.ANSWERED;
        followed.leave();
        Runnable action = leave;
        if (action != null) {
            action.run();
        } else if (blind == null) {
            parts.metrics().cancelledEarly();
        }
    }

    // ---- an answer of our own

    @Override
    public boolean isSent() {
        return phase == Phase.SENT || phase == Phase.ANSWERED;
    }

    /** Refuses what no flow has seen. */
    private void reject(GatewayError error) {
        parts.metrics().rejected();
        parts.metrics().refused(Refusals.of(this, requestId, error));
        tell(error);
    }

    /**
     * Of a request that was read: what its engine itself answers best, it gets to see. A model that
     * this client may not use is not known either: that one is refused.
     */
    @Override
    public void refuse(GatewayError error) {
        boolean engines =
                error instanceof GatewayError.Internal
                        || (error instanceof GatewayError.UnknownModel && visit == null);
        if (engines && !byLoad && !isSent()) {
            byLoad();
        } else if (!(error instanceof GatewayError.NoHealthyWorker && !isSent() && blindly())) {
            tell(error);
        }
    }

    /** Of one that was not: its body may have what engines do not take from clients. */
    @Override
    public void refuse(GatewayError error, String id) {
        tell(error);
    }

    private void tell(GatewayError error) {
        if (isSent()) {
            return;
        }
        HeaderList told = new HeaderList();
        ErrorMapper.headers(error, requestId, (name, value) -> told.set(name, value));
        int code = error.httpStatus();
        // The protocol has a status for load, and none above 511.
        answer(code > 511 ? TOO_MANY_REQUESTS : code, told, ErrorMapper.body(error).getBytes());
    }

    @Override
    public void answer(int code, HeaderList told, byte[] bytes) {
        phase = Phase.ANSWERED;
        body.free();
        followed.answeredBy(code);
        extra.forEach((name, value) -> told.set(name, value));
        call.send(ProcessingResponse.immediate(code, told, bytes, "warmpath"));
        parts.meters().outcome(Outcome.REFUSED);
    }

    // ---- as a client's request

    @Override
    public String target() {
        return head.path();
    }

    @Override
    public @Nullable String query() {
        return head.query();
    }

    @Override
    public MultiMap headers() {
        return head.headers();
    }

    @Override
    public void putHeader(String name, String value) {
        extra.set(name, value);
    }

    @Override
    public void onEnd(IntConsumer action) {
        atEnd = action;
    }

    @Override
    public boolean isGone() {
        return call.isOver();
    }

    @Override
    public Answer answer(String id, boolean raw, Runnable action) {
        return new ProxiedAnswer(this);
    }

    @Override
    public void discard(long lingerMillis) {
        // What still comes of its body is stepped over.
    }
}
