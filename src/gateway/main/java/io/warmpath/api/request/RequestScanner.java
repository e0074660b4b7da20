package io.warmpath.api.request;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the members of a request body that matter, in one pass over its bytes and without
 * allocating.
 *
 * <p>Reads the common shape only: every member that matters given once, its name without escapes,
 * every message an object with a role and a text. {@link #scan} says false to all else, right or
 * wrong; then a JSON parser has to read the same bytes. What it says true to is a JSON object.
 * Offsets are those of the array; strings are given without their quotes by {@link #textOf}.
 *
 * <p>Used again for each request, by one thread.
 */
final class RequestScanner {
    /** Messages whose places are kept between requests. */
    private static final int KEPT_MESSAGES = 1024;

    private static final int FIELDS = 4; // role and content: opening quote, closing quote
    private static final byte[] ROLE = {'r', 'o', 'l', 'e'};
    private static final byte[] CONTENT = {'c', 'o', 'n', 't', 'e', 'n', 't'};
    private static final byte[] INCLUDE_USAGE = {
        'i', 'n', 'c', 'l', 'u', 'd', 'e', '_', 'u', 's', 'a', 'g', 'e'
    };
    private static final int LONGEST_NAME = 256;
    private static final int MEMBERS = RequestMember.values().length;

    private final JsonBytes json = new JsonBytes();
    private final int[] names = new int[MEMBERS]; // a member's opening quote
    private final int[] starts = new int[MEMBERS];
    private final int[] ends = new int[MEMBERS];
    private int[] messages = new int[16 * FIELDS];
    private int messageCount;
    private int hiddenFrom;
    private int hiddenTo;
    private boolean withoutText;
    private long seen;
    private @Nullable RequestMember hides;
    private @Nullable RequestMember forTemplate;
    private @Nullable RequestMember forEngines;
    private int afterBrace;
    private boolean empty;
    private int usageStart;
    private int usageEnd;
    private byte[] b = {};

    /**
     * @param chat {@code messages} is the prompt; otherwise it is stepped over
     * @return false when the body is of another shape; then nothing else is known
     */
    boolean scan(byte[] bytes, int from, int to, boolean chat) {
        b = bytes;
        json.set(bytes, to);
        seen = 0;
        hides = null;
        forTemplate = null;
        forEngines = null;
        messageCount = 0;
        hiddenFrom = -1;
        withoutText = false;
        usageStart = -1;
        usageEnd = -1;
        int p = json.space(from);
        if (json.at(p) != '{') {
            return false;
        }
        afterBrace = p + 1;
        p = json.space(p + 1);
        empty = json.at(p) == '}';
        if (empty) {
            p++;
        } else {
            p = members(p, chat);
            if (p < 0) {
                return false;
            }
        }
        return json.space(p) == to;
    }

    /** Behind the object's closing brace, or negative. */
    private int members(int p, boolean chat) {
        while (true) {
            int name = p;
            int close = name(p);
            if (close < 0) {
                return JsonBytes.ODD;
            }
            int value = json.colon(close + 1);
            if (value < 0) {
                return JsonBytes.ODD;
            }
            RequestMember m = RequestMember.of(b, name + 1, close);
            p = chat && m == RequestMember.MESSAGES ? messages(value) : json.value(value);
            if (p < 0 || (m != null && !put(m, name, value, p))) {
                return JsonBytes.ODD;
            }
            p = json.space(p);
            if (json.at(p) == '}') {
                return p + 1;
            }
            if (json.at(p) != ',') {
                return JsonBytes.ODD;
            }
            p = json.space(p + 1);
        }
    }

    private boolean put(RequestMember m, int name, int value, int end) {
        long bit = 1L << m.index();
        if ((seen & bit) != 0) {
            return false;
        }
        seen |= bit;
        names[m.index()] = name;
        starts[m.index()] = value;
        ends[m.index()] = end;
        if (!isEmpty(value)
                || (m.falseMatters() && b[value] == 'f')
                || (m.emptyListMatters() && b[value] == '[')) {
            if (m.hidesTokens()) {
                hides = m;
            } else if (m.isForTemplate()) {
                forTemplate = m;
            }
        }
        if (m.isForEngines() && b[value] != 'n') {
            forEngines = m;
        }
        return switch (m) {
            case STREAM_OPTIONS -> b[value] != '{' || options(value);
            case VLLM_XARGS -> isEmpty(value); // what is in it has to be looked at
            default -> true;
        };
    }

    private boolean isEmpty(int value) {
        byte c = b[value];
        return c == 'n'
                || c == 'f'
                || (c == '[' && b[json.space(value + 1)] == ']')
                || (c == '{' && b[json.space(value + 1)] == '}');
    }

    /** Over {@code stream_options}, which is JSON already. */
    private boolean options(int p) {
        p = json.space(p + 1);
        while (b[p] != '}') {
            int close = name(p);
            if (close < 0) {
                return false;
            }
            int value = json.colon(close + 1);
            boolean usage = is(INCLUDE_USAGE, p + 1, close);
            p = json.value(value);
            if (usage) {
                if (usageStart >= 0) {
                    return false;
                }
                usageStart = value;
                usageEnd = p;
            }
            p = json.space(p);
            if (b[p] == ',') {
                p = json.space(p + 1);
            }
        }
        return true;
    }

    /**
     * @param p a member's name
     * @return its closing quote; ODD when it is written with escapes
     */
    private int name(int p) {
        if (json.at(p) != '"') {
            return JsonBytes.ODD;
        }
        int close = json.string(p + 1);
        boolean odd = close < 0 || close - p > LONGEST_NAME || json.hasEscape(p + 1, close);
        return odd ? JsonBytes.ODD : close;
    }

    private int messages(int p) {
        if (json.at(p) != '[') {
            return JsonBytes.ODD;
        }
        while (true) {
            p = json.space(p + 1);
            p = message(p);
            if (p < 0) {
                return JsonBytes.ODD;
            }
            p = json.space(p);
            if (json.at(p) == ']') {
                return p + 1;
            }
            if (json.at(p) != ',') {
                return JsonBytes.ODD;
            }
        }
    }

    private int message(int p) {
        if (json.at(p) != '{') {
            return JsonBytes.ODD;
        }
        int at = messageCount * FIELDS;
        if (at == messages.length) {
            messages = Arrays.copyOf(messages, 2 * at);
        }
        Arrays.fill(messages, at, at + FIELDS, -1);
        boolean content = false;
        do {
            p = json.space(p + 1);
            int name = p + 1;
            int close = name(p);
            if (close < 0) {
                return JsonBytes.ODD;
            }
            p = json.colon(close + 1);
            if (p < 0) {
                return JsonBytes.ODD;
            }
            int value = p;
            p = json.value(p);
            if (p < 0) {
                return JsonBytes.ODD;
            }
            if (is(ROLE, name, close)) {
                if (b[value] != '"' || messages[at] >= 0) {
                    return JsonBytes.ODD;
                }
                messages[at] = value;
                messages[at + 1] = p - 1;
            } else if (is(CONTENT, name, close)) {
                boolean text = b[value] == '"';
                if (content || !(text || b[value] == 'n')) {
                    return JsonBytes.ODD;
                }
                content = true;
                messages[at + 2] = text ? value : -1;
                messages[at + 3] = p - 1;
            } else if (b[value] != 'n') {
                hiddenFrom = name;
                hiddenTo = close;
            }
            p = json.space(p);
        } while (json.at(p) == ',');
        if (json.at(p) != '}' || messages[at] < 0) {
            return JsonBytes.ODD;
        }
        withoutText |= messages[at + 2] < 0;
        messageCount++;
        return p + 1;
    }

    private boolean is(byte[] name, int from, int to) {
        return Arrays.equals(b, from, to, name, 0, name.length);
    }

    /** Forgets the request. */
    void clear() {
        b = new byte[0];
        json.clear();
        if (messages.length > KEPT_MESSAGES * FIELDS) {
            messages = new int[16 * FIELDS];
        }
    }

    int afterBrace() {
        return afterBrace;
    }

    boolean empty() {
        return empty;
    }

    boolean has(RequestMember m) {
        return (seen & 1L << m.index()) != 0;
    }

    /** The member's opening quote. */
    int name(RequestMember m) {
        return names[m.index()];
    }

    int start(RequestMember m) {
        return starts[m.index()];
    }

    int end(RequestMember m) {
        return ends[m.index()];
    }

    /** First byte of the value; it tells its kind. */
    byte kind(RequestMember m) {
        return b[starts[m.index()]];
    }

    /** The last member that makes the prompt's tokens unknown. */
    @Nullable RequestMember hides() {
        return hides;
    }

    /** The last member that is for a chat's template. */
    @Nullable RequestMember forTemplate() {
        return forTemplate;
    }

    /** The name of the last member that acts on the engine or on other requests. */
    @Nullable String forEngines() {
        RequestMember m = forEngines;
        if (m == null) {
            return null;
        }
        int name = names[m.index()] + 1;
        return json.text(name, json.string(name));
    }

    /** Of {@code stream_options.include_usage}; -1 when it is absent. */
    int usageStart() {
        return usageStart;
    }

    int usageEnd() {
        return usageEnd;
    }

    int messageCount() {
        return messageCount;
    }

    /** The name of the last member of a message that is neither role nor content nor null. */
    @Nullable String hiddenName() {
        return hiddenFrom < 0 ? null : json.text(hiddenFrom, hiddenTo);
    }

    /** Some message has no text. */
    boolean withoutText() {
        return withoutText;
    }

    /** Null when half a surrogate pair is in it. */
    @Nullable String role(int message) {
        return quoted(message * FIELDS);
    }

    /** Null when half a surrogate pair is in it. */
    @Nullable String content(int message) {
        return quoted(message * FIELDS + 2);
    }

    private @Nullable String quoted(int at) {
        return json.text(messages[at] + 1, messages[at + 1]);
    }

    /** The member's string; null when half a surrogate pair is in it. */
    @Nullable String textOf(RequestMember m) {
        return json.text(starts[m.index()] + 1, ends[m.index()] - 1);
    }
}
