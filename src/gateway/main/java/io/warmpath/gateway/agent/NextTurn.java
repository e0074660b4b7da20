package io.warmpath.gateway.agent;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.PrefillMeters;
import io.warmpath.gateway.pin.SidePost;
import io.warmpath.gateway.pin.WarmRequest;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.session.PrefillBudget;
import io.warmpath.session.WarmLedger;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.UpstreamListener;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Warms the worker for a chat's next turn: reads along with the answer and, once it has ended,
 * sends the beginning of the next prompt to the same rank, for one token that is thrown away.
 *
 * <p>That beginning is what two next prompts have in common that differ in their last message only:
 * the template itself decides what becomes of reasoning in past turns, where the client sends it
 * back. It is sent as token ids, in the lowest priority.
 *
 * <p>Never delays or fails the user's answer: a copy of bytes while it runs, everything else
 * afterwards. On the request's event loop but for the tokenising.
 */
public final class NextTurn implements UpstreamListener {
    private static final Logger LOG = Logger.getLogger(NextTurn.class);

    /** A longer answer is not looked at. */
    private static final int MAX_ANSWER_BYTES = 2 << 20;

    /** Names of blocks, four for each next turn that was computed ahead: 4 MB. */
    private static final int WARMED = 40_000;

    /**
     * Parts that all next turns use.
     *
     * @param prefills what they may cost
     * @param warmed what has been computed ahead
     */
    public record Parts(
            PrefillBudget prefills,
            WarmLedger warmed,
            LoadBook load,
            TokenLanes lanes,
            PromptTokens tokens,
            EngineClient engines,
            FlowMetrics metrics) {
        public Parts(
                PrefillBudget prefills,
                LoadBook load,
                TokenLanes lanes,
                PromptTokens tokens,
                EngineClient engines,
                FlowMetrics metrics) {
            this(prefills, new WarmLedger(WARMED), load, lanes, tokens, engines, metrics);
        }
    }

    private final Parts parts;
    private final Context context;
    private final Candidate to;
    private final String requestId;
    private final String model;
    private final String servedModel;
    private final String salt;
    private final PromptInput prompt;
    private final @Nullable String authorization;
    private final int promptTokens;
    private final long[] chain;
    private final UpstreamListener client;
    private @Nullable ByteArrayOutputStream answer = new ByteArrayOutputStream(4096);
    private boolean eventStream;

    private NextTurn(
            Parts parts,
            Context context,
            InferenceRequest request,
            Candidate to,
            int promptTokens,
            PromptBlocks blocks,
            UpstreamListener client) {
        this.parts = parts;
        this.context = context;
        this.to = to;
        this.requestId = request.requestId();
        this.model = request.model();
        this.servedModel = request.name().on(to.worker().kind());
        this.salt = request.salt().value();
        this.prompt = request.prompt();
        this.authorization = request.headers().get("authorization");
        this.promptTokens = promptTokens;
        this.chain = blocks.chain();
        this.client = client;
    }

    /**
     * What listens to the engine in place of {@code client}, and hands everything on to it; {@code
     * client} itself where no next turn is to be warmed. For a client that has asked for it.
     *
     * @param promptTokens of this turn; 0 when they are not known
     * @param blocks of this turn, by which the next one is recognised
     */
    public static UpstreamListener beside(
            Parts parts,
            Context context,
            InferenceRequest request,
            Candidate to,
            int promptTokens,
            PromptBlocks blocks,
            UpstreamListener client) {
        boolean chat =
                request.prompt() instanceof PromptInput.Chat
                        || request.prompt() instanceof PromptInput.Conversation;
        if (!parts.prefills().on() || request.passThrough() || !chat) {
            return client;
        }
        if (promptTokens == 0 || to.worker().kind().isPlain()) {
            parts.metrics()
                    .prefills()
                    .ended(PrefillMeters.Result.UNKNOWN); // such an engine may not take ids
            return client;
        }
        return new NextTurn(parts, context, request, to, promptTokens, blocks, client);
    }

    @Override
    public void head(int code, MultiMap headers) {
        String type = headers.get("content-type");
        eventStream = type != null && type.startsWith("text/event-stream");
        if (code != 200 || headers.contains("content-encoding")) {
            answer = null;
        }
        client.head(code, headers);
    }

    @Override
    public void data(byte[] b, int from, int length) {
        keep(b, from, length);
        client.data(b, from, length);
    }

    @Override
    public void end(byte[] b, int from, int length) {
        keep(b, from, length);
        client.end(b, from, length);
        ByteArrayOutputStream whole = answer;
        answer = null;
        if (whole != null) {
            begin(whole.toByteArray());
        }
    }

    @Override
    public void failed(GatewayError error) {
        answer = null;
        client.failed(error);
    }

    private void keep(byte[] b, int from, int length) {
        ByteArrayOutputStream kept = answer;
        if (kept == null) {
            return;
        }
        if (kept.size() + length > MAX_ANSWER_BYTES) {
            answer = null;
            parts.metrics().prefills().ended(PrefillMeters.Result.TOO_LONG);
        } else {
            kept.write(b, from, length);
        }
    }

    private void begin(byte[] whole) {
        if (parts.prefills().isBusy(parts.load().load(to.slot()).prefillTokens())) {
            parts.metrics().prefills().ended(PrefillMeters.Result.BUSY);
            return;
        }
        try {
            parts.lanes().lengthy(() -> tokenise(whole));
        } catch (RejectedExecutionException e) {
            parts.metrics().prefills().ended(PrefillMeters.Result.QUEUE_FULL);
        }
    }

    private void tokenise(byte[] whole) {
        int[] ids;
        try {
            ids = common(whole);
        } catch (RuntimeException | LinkageError e) {
            LOG.debugf(e, "%s: the next turn's prompt cannot be made", requestId);
            ids = PromptContent.NO_IDS;
        }
        int[] made = ids;
        context.runOnContext(v -> send(made));
    }

    /** The ids that next prompts begin with; none when they are not known. */
    private int[] common(byte[] whole) {
        AnswerMessage said = AnswerMessage.read(whole, eventStream);
        if (said == null) {
            return PromptContent.NO_IDS;
        }
        ChatRequest now = chat();
        int[] one = ids(next(now, said, "A"));
        int[] other = ids(next(now, said, "1"));
        int same = Arrays.mismatch(one, other);
        return Arrays.copyOf(one, same < 0 ? one.length : same);
    }

    private ChatRequest chat() {
        if (prompt instanceof PromptInput.Conversation c) {
            return c.source().get();
        }
        return ((PromptInput.Chat) prompt).request();
    }

    /** The client sends the answer's reasoning back if it has done so with those before. */
    static ChatRequest next(ChatRequest now, AnswerMessage said, String reply) {
        List<@Nullable Object> messages = new ArrayList<>(now.messages());
        messages.add(said.asMessage(AnswerMessage.reasoningIn(now.messages())));
        messages.add(said.reply(reply));
        return now.with(messages, true, false);
    }

    private int[] ids(ChatRequest chat) {
        PromptInput input = new PromptInput.Conversation(1 << 16, () -> chat);
        return parts.tokens()
                .tokens(model, input, Engines.of(to.worker().kind()))
                .orElse(PromptContent.NO_IDS);
    }

    private void send(int[] ids) {
        if (ids.length == 0) {
            parts.metrics().prefills().ended(PrefillMeters.Result.UNKNOWN);
            return;
        }
        int fresh = Math.max(1, ids.length - promptTokens);
        if (!parts.prefills().take(to.worker().id(), fresh)) {
            parts.metrics().prefills().ended(PrefillMeters.Result.BUDGET);
            return;
        }
        SidePost.send(
                parts.engines(),
                context.owner(),
                new WarmRequest(requestId + "-next", to, servedModel, salt, authorization, ids, "")
                        .upstream(),
                null,
                reply -> warmed(reply, fresh, ids.length));
    }

    private void warmed(SidePost.Reply reply, int fresh, int whole) {
        parts.prefills().done(to.worker().id());
        if (reply.status() == 200) {
            parts.warmed()
                    .add(chain, new WarmLedger.Warmed(to.slot().index(), whole - fresh, whole));
            parts.metrics().prefills().computed(fresh);
        } else {
            parts.metrics().prefills().ended(PrefillMeters.Result.FAILED);
            LOG.debugf(
                    "%s: the next turn's prompt failed: %d %s",
                    requestId, reply.status(), reply.text());
        }
    }
}
