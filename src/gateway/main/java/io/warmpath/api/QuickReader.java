package io.warmpath.api;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.RequestParser.Endpoint;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.Span;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.PromptInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads a body of the usual shape out of what {@link RequestScanner} has found.
 *
 * <p>Never refuses: whatever is wrong or only unusual is left to the reader that can say so. {@code
 * nvext} and token ids are given to a JSON parser, which sees no more than their bytes. One scanner
 * per thread, used again.
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
            boolean usual = reader.members() && reader.prompt(endpoint);
            return usual ? reader.fields : null;
        } catch (IOException | GatewayException e) {
            return null; // read once more, and refused by its place in the whole body
        } finally {
            scan.clear();
        }
    }

    private boolean members() throws IOException {
        fields.afterBrace = scan.afterBrace() - bytes.offset();
        fields.empty = scan.empty();
        Member hides = scan.hides();
        fields.opaque = hides == null ? null : hides.text();
        Member forTemplate = scan.forTemplate();
        fields.forTemplate = forTemplate == null ? null : forTemplate.text();
        if (scan.has(Member.PRIORITY)) {
            fields.priority = span(Member.PRIORITY);
        }
        if (scan.has(Member.TEMPERATURE)) {
            fields.temperature = span(Member.TEMPERATURE);
        }
        return model()
                && streamOptions()
                && bool(Member.STREAM)
                && bool(Member.ADD_GENERATION_PROMPT)
                && integer(Member.MAX_TOKENS)
                && integer(Member.MAX_COMPLETION_TOKENS)
                && several()
                && salt()
                && ranks()
                && nvext();
    }

    private boolean model() {
        if (!scan.has(Member.MODEL) || scan.kind(Member.MODEL) != '"') {
            return false;
        }
        fields.model = scan.textOf(Member.MODEL);
        fields.modelSpan = span(Member.MODEL);
        return fields.model != null;
    }

    private boolean streamOptions() {
        if (!scan.has(Member.STREAM_OPTIONS)) {
            return true;
        }
        fields.streamOptions = span(Member.STREAM_OPTIONS);
        if (scan.usageStart() >= 0) {
            fields.includeUsage = span(scan.usageStart(), scan.usageEnd());
        }
        byte kind = scan.kind(Member.STREAM_OPTIONS);
        return kind == '{' || kind == 'n';
    }

    private boolean bool(Member m) {
        if (!scan.has(m) || scan.kind(m) == 'n') {
            return true;
        }
        boolean value = scan.kind(m) == 't';
        if (m == Member.STREAM) {
            fields.stream = value;
        } else {
            fields.addGenerationPrompt = value;
        }
        return value || scan.kind(m) == 'f';
    }

    private boolean several() {
        fields.several = scan.has(Member.N) && scan.kind(Member.N) != 'n' && digits(Member.N) > 1;
        return integer(Member.N);
    }

    private boolean integer(Member m) {
        return !scan.has(m) || scan.kind(m) == 'n' || digits(m) >= 0;
    }

    /** The member's value; negative when it is no plain small number. */
    private long digits(Member m) {
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
        if (!scan.has(Member.CACHE_SALT)) {
            return true;
        }
        fields.salt = span(Member.CACHE_SALT);
        byte kind = scan.kind(Member.CACHE_SALT);
        String salt = kind == '"' ? scan.textOf(Member.CACHE_SALT) : kind == 'n' ? "" : null;
        if (salt == null) {
            return false;
        }
        fields.hints.bodySalt(salt);
        return true;
    }

    private boolean ranks() {
        boolean both = scan.has(Member.ROUTED_DP_RANK) && scan.has(Member.DATA_PARALLEL_RANK);
        if (scan.has(Member.ROUTED_DP_RANK)) {
            fields.rank = span(Member.ROUTED_DP_RANK);
        }
        return !both && rank(Member.ROUTED_DP_RANK) && rank(Member.DATA_PARALLEL_RANK);
    }

    private boolean rank(Member m) {
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
        if (!scan.has(Member.NVEXT)) {
            return true;
        }
        fields.nvext(span(scan.name(Member.NVEXT), scan.end(Member.NVEXT)));
        if (scan.kind(Member.NVEXT) == '{') {
            try (JsonParser json = parser(Member.NVEXT)) {
                json.nextToken();
                fields.hints.readNvext(json);
            }
            return true;
        }
        return scan.kind(Member.NVEXT) == 'n';
    }

    private boolean prompt(Endpoint endpoint) throws IOException {
        return switch (endpoint) {
            case CHAT -> messages();
            case COMPLETIONS -> prompt();
            case RESPONSES, OTHER -> true;
        };
    }

    private boolean messages() {
        if (!scan.has(Member.MESSAGES)) {
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
        if (!scan.has(Member.PROMPT)) {
            return false;
        }
        byte kind = scan.kind(Member.PROMPT);
        if (kind == '"') {
            String text = scan.textOf(Member.PROMPT);
            fields.prompt = text == null ? null : new PromptInput.Text(text);
        } else if (kind == '[') {
            try (JsonParser json = parser(Member.PROMPT)) {
                JsonToken array = json.nextToken();
                new PromptReader(json, fields).prompt(array);
            }
        }
        return fields.prompt != null;
    }

    private JsonParser parser(Member m) throws IOException {
        return JacksonReader.parser(bytes.array(), scan.start(m), scan.end(m) - scan.start(m));
    }

    private Span span(Member m) {
        return span(scan.start(m), scan.end(m));
    }

    private Span span(int start, int end) {
        return new Span(start - bytes.offset(), end - bytes.offset());
    }
}
