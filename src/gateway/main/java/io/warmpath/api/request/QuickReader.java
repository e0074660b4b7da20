package io.warmpath.api.request;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.request.RequestParser.Endpoint;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.ByteRange;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads a body of the common shape out of what {@link RequestScanner} has found. Never refuses:
 * whatever is wrong or only uncommon is left to the reader that can say so. {@code nvext} and token
 * ids are given to a JSON parser, which sees no more than their bytes. One scanner per thread, used
 * again.
 */
final class QuickReader {
    private static final ThreadLocal<RequestScanner> SCANNER =
            ThreadLocal.withInitial(RequestScanner::new);

    /** An integer of more digits is for the reader that knows its limits. */
    private static final int MOST_DIGITS = 18;

    private final RequestScanner scan;
    private final HeapBytes bytes;
    private final boolean texts;
    private final RequestFields fields = new RequestFields();

    private QuickReader(RequestScanner scan, HeapBytes bytes, boolean texts) {
        this.scan = scan;
        this.bytes = bytes;
        this.texts = texts;
    }

    /**
     * @param texts false: a chat's texts stay in the body until somebody asks for them
     * @return null when the body is of another shape
     */
    static @Nullable RequestFields read(Endpoint endpoint, HeapBytes bytes, boolean texts) {
        RequestScanner scan = SCANNER.get();
        try {
            boolean chat = endpoint == Endpoint.CHAT;
            int end = bytes.offset() + bytes.length();
            if (!scan.scan(bytes.array(), bytes.offset(), end, chat)) {
                return null;
            }
            QuickReader reader = new QuickReader(scan, bytes, texts);
            boolean understood = reader.members(endpoint) && reader.prompt(endpoint);
            return understood ? reader.fields : null;
        } catch (IOException | GatewayException e) {
            return null; // read once more, and refused by its place in the whole body
        } finally {
            scan.clear();
        }
    }

    private boolean members(Endpoint endpoint) throws IOException {
        fields.afterBrace = scan.afterBrace() - bytes.offset();
        fields.empty = scan.empty();
        RequestMember hides = scan.hides();
        fields.opaque = hides == null ? null : hides.text();
        RequestMember forTemplate = scan.forTemplate();
        fields.forTemplate = forTemplate == null ? null : forTemplate.text();
        fields.forEngines(scan.forEngines());
        if (scan.has(RequestMember.REQUEST_ID) && scan.kind(RequestMember.REQUEST_ID) != 'n') {
            fields.requestId(endpoint);
        }
        if (scan.has(RequestMember.PRIORITY)) {
            fields.priority = span(RequestMember.PRIORITY);
        }
        if (scan.has(RequestMember.STREAM)) {
            fields.streamSpan = span(RequestMember.STREAM);
        }
        if (scan.has(RequestMember.MIN_TOKENS)) {
            fields.minTokensSpan = span(RequestMember.MIN_TOKENS);
        }
        if (scan.has(RequestMember.TEMPERATURE)) {
            fields.temperature = span(RequestMember.TEMPERATURE);
        }
        fields.echo = asks(RequestMember.ECHO);
        fields.logprobs = asks(RequestMember.LOGPROBS);
        fields.promptLogprobs = asks(RequestMember.PROMPT_LOGPROBS);
        return model()
                && streamOptions()
                && bool(RequestMember.STREAM)
                && bool(RequestMember.ADD_GENERATION_PROMPT)
                && mostTokens(RequestMember.MAX_TOKENS)
                && mostTokens(RequestMember.MAX_COMPLETION_TOKENS)
                && answers()
                && salt()
                && ranks()
                && nvext();
    }

    private boolean model() {
        if (!scan.has(RequestMember.MODEL) || scan.kind(RequestMember.MODEL) != '"') {
            return false;
        }
        fields.model = scan.textOf(RequestMember.MODEL);
        fields.modelSpan = span(RequestMember.MODEL);
        return fields.model != null;
    }

    private boolean streamOptions() {
        if (!scan.has(RequestMember.STREAM_OPTIONS)) {
            return true;
        }
        fields.streamOptions = span(RequestMember.STREAM_OPTIONS);
        if (scan.usageStart() >= 0) {
            fields.includeUsage = span(scan.usageStart(), scan.usageEnd());
        }
        byte kind = scan.kind(RequestMember.STREAM_OPTIONS);
        return kind == '{' || kind == 'n';
    }

    private boolean bool(RequestMember m) {
        if (!scan.has(m) || scan.kind(m) == 'n') {
            return true;
        }
        boolean value = scan.kind(m) == 't';
        if (m == RequestMember.STREAM) {
            fields.stream = value;
        } else {
            fields.addGenerationPrompt = value;
        }
        return value || scan.kind(m) == 'f';
    }

    private boolean asks(RequestMember m) {
        return scan.has(m) && scan.kind(m) != 'n' && scan.kind(m) != 'f';
    }

    private boolean answers() {
        if (scan.has(RequestMember.N) && scan.kind(RequestMember.N) != 'n') {
            fields.answers(digits(RequestMember.N));
        }
        return integer(RequestMember.N);
    }

    private boolean mostTokens(RequestMember m) {
        if (!integer(m)) {
            return false;
        }
        if (scan.has(m)) {
            fields.mostTokens(m, span(m), digits(m));
        }
        return true;
    }

    private boolean integer(RequestMember m) {
        return !scan.has(m) || scan.kind(m) == 'n' || digits(m) >= 0;
    }

    /** The member's value; negative when it is no plain small number. */
    private long digits(RequestMember m) {
        if (scan.end(m) - scan.start(m) > MOST_DIGITS) {
            return -1;
        }
        long value = 0;
        for (int p = scan.start(m); p < scan.end(m); p++) {
            int digit = bytes.array()[p] - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            value = value * 10 + digit;
        }
        return value;
    }

    private boolean salt() {
        if (!scan.has(RequestMember.CACHE_SALT)) {
            return true;
        }
        fields.salt = span(RequestMember.CACHE_SALT);
        byte kind = scan.kind(RequestMember.CACHE_SALT);
        String salt = kind == '"' ? scan.textOf(RequestMember.CACHE_SALT) : kind == 'n' ? "" : null;
        if (salt == null) {
            return false;
        }
        fields.hints.bodySalt(salt);
        return true;
    }

    private boolean ranks() {
        boolean both =
                scan.has(RequestMember.ROUTED_DP_RANK)
                        && scan.has(RequestMember.DATA_PARALLEL_RANK);
        if (scan.has(RequestMember.ROUTED_DP_RANK)) {
            fields.rank = span(RequestMember.ROUTED_DP_RANK);
        }
        return !both
                && rank(RequestMember.ROUTED_DP_RANK)
                && rank(RequestMember.DATA_PARALLEL_RANK);
    }

    private boolean rank(RequestMember m) {
        if (!scan.has(m)) {
            return true;
        }
        if (scan.kind(m) == 'n') {
            fields.hints.bodyRank(m.text(), OptionalLong.empty());
            return true;
        }
        long rank = digits(m);
        if (rank >= 0) {
            fields.hasRank = true;
            fields.hints.bodyRank(m.text(), OptionalLong.of(rank));
        }
        return rank >= 0;
    }

    private boolean nvext() throws IOException {
        if (!scan.has(RequestMember.NVEXT)) {
            return true;
        }
        fields.nvext(span(scan.name(RequestMember.NVEXT), scan.end(RequestMember.NVEXT)));
        if (scan.kind(RequestMember.NVEXT) == '{') {
            try (JsonParser json = parser(RequestMember.NVEXT)) {
                json.nextToken();
                fields.hints.readNvext(json);
            }
            return true;
        }
        return scan.kind(RequestMember.NVEXT) == 'n';
    }

    private boolean prompt(Endpoint endpoint) throws IOException {
        return switch (endpoint) {
            case CHAT -> messages();
            case COMPLETIONS -> prompt();
            case EMBEDDINGS -> input();
            case RESPONSES, SCORES, OTHER -> true;
        };
    }

    private boolean messages() {
        if (!scan.has(RequestMember.MESSAGES)) {
            return false;
        }
        fields.messagesLater = !texts;
        String hidden = scan.hiddenName();
        if (hidden != null || scan.withoutText()) {
            fields.opaqueMessages =
                    hidden != null ? "message with " + hidden : "message without text";
        }
        // Texts that nobody will look at are not made.
        boolean wanted =
                texts
                        && fields.opaqueMessages == null
                        && fields.opaque == null
                        && fields.forTemplate == null
                        && fields.hints.tokens() == null;
        int count = wanted ? scan.messageCount() : 0;
        List<PromptInput.Message> read = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String role = scan.role(i);
            String content = scan.content(i);
            if (role == null || content == null) {
                return false;
            }
            read.add(new PromptInput.Message(role, content));
        }
        fields.messages = read;
        return true;
    }

    private boolean prompt() throws IOException {
        if (!scan.has(RequestMember.PROMPT)) {
            return false;
        }
        byte kind = scan.kind(RequestMember.PROMPT);
        if (kind == '"') {
            String text = scan.textOf(RequestMember.PROMPT);
            fields.prompt = text == null ? null : new PromptInput.Text(text);
        } else if (kind == '[') {
            try (JsonParser json = parser(RequestMember.PROMPT)) {
                JsonToken array = json.nextToken();
                new PromptReader(json, fields).prompt(array);
            }
        }
        return fields.prompt != null;
    }

    /** Whatever it is, an engine has to make something of it. */
    private boolean input() throws IOException {
        if (scan.has(RequestMember.INPUT)) {
            try (JsonParser json = parser(RequestMember.INPUT)) {
                JsonToken value = json.nextToken();
                new PromptReader(json, fields).input(value);
            }
        }
        return true;
    }

    private JsonParser parser(RequestMember m) throws IOException {
        return JsonInput.parser(bytes.array(), scan.start(m), scan.end(m) - scan.start(m));
    }

    private ByteRange span(RequestMember m) {
        return span(scan.start(m), scan.end(m));
    }

    private ByteRange span(int start, int end) {
        return new ByteRange(start - bytes.offset(), end - bytes.offset());
    }
}
