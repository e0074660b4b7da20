package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Conversation;
import io.warmpath.tokens.template.PromptInput.Ids;
import io.warmpath.tokens.template.PromptInput.Message;
import io.warmpath.tokens.template.PromptInput.Opaque;
import io.warmpath.tokens.template.PromptInput.Several;
import io.warmpath.tokens.template.PromptInput.Text;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.jspecify.annotations.Nullable;

/**
 * A prompt of which nobody knows the tokens, as hashes of its bytes: equal beginnings of requests
 * have equal first chunks.
 *
 * <p>Written in one order, whatever the client's: model, tools and what else goes before messages,
 * then message by message. A chunk ends with its message, tool or text, and after 256 bytes at
 * most: so conversations part where a message ends, and lose at most one chunk where a text grows.
 *
 * <p>A chunk's hash is two ids, so that an index takes chunks as blocks of {@link #IDS_PER_CHUNK}
 * and chains them by itself. Immutable; arrays are not copied.
 */
public final class TextChunks {
    public static final int IDS_PER_CHUNK = 2;

    /** English text; others have fewer bytes a token. Good enough to weigh one prompt's parts. */
    private static final int BYTES_PER_TOKEN = 4;

    private final int[] ids;
    private final int[] ends;

    private TextChunks(int[] ids, int[] ends) {
        this.ids = ids;
        this.ends = ends;
    }

    /**
     * Any thread. Reads the prompt once; about 1 ns a byte, and what reading a conversation costs.
     *
     * @param model by the name that engines serve it under
     * @return empty when the prompt has no text of its own: ids, several prompts at once
     * @throws IllegalArgumentException when some member of the request is not what it has to be
     */
    public static Optional<TextChunks> of(String model, PromptInput prompt) {
        Writer to = new Writer();
        switch (prompt) {
            case Text text -> {
                to.value(model);
                to.value(text.text());
            }
            case Chat chat -> {
                to.head(model);
                for (Message message : chat.messages()) {
                    to.message(message.role(), message.content(), Map.of());
                }
            }
            case Conversation chat -> conversation(model, chat.source().get(), to);
            case Ids ids -> {
                return Optional.empty();
            }
            case Several several -> {
                return Optional.empty();
            }
            case Opaque opaque -> {
                return Optional.empty();
            }
        }
        return Optional.of(to.chunks());
    }

    /** {@link #of} takes well under 100 µs: nothing has to be read first, and there is little. */
    public static boolean isQuick(PromptInput prompt, int mostChars) {
        return switch (prompt) {
            case Text text -> text.text().length() <= mostChars;
            case Chat chat -> {
                long chars = 0;
                for (Message message : chat.messages()) {
                    chars += (long) message.role().length() + message.content().length();
                }
                yield chars <= mostChars;
            }
            case Conversation chat -> false;
            case Ids ids -> true;
            case Several several -> true;
            case Opaque opaque -> true;
        };
    }

    private static void conversation(String model, ChatRequest chat, Writer to) {
        to.head(model);
        if (chat.tools() != null) {
            for (Object tool : chat.tools()) {
                to.part("tool", tool);
            }
        }
        if (chat.documents() != null) {
            to.part("documents", chat.documents());
        }
        if (!chat.arguments().isEmpty()) {
            to.part("arguments", chat.arguments());
        }
        if (chat.reasoningEffort() != null) {
            to.part("reasoning_effort", chat.reasoningEffort());
        }
        for (Object message : chat.messages()) {
            if (message instanceof Map<?, ?> members) {
                to.message(members.get("role"), members.get("content"), members);
            } else {
                to.part("message", message);
            }
        }
    }

    /** {@link #IDS_PER_CHUNK} for each chunk, u32 in an int; not to be changed. */
    public int[] ids() {
        return ids;
    }

    public int chunks() {
        return ends.length;
    }

    /** Of the whole prompt, as a guess from its bytes; at least 1. */
    public int tokens() {
        return tokens(ends.length);
    }

    /** Of its first chunks, as a guess from their bytes. */
    public int tokens(int chunks) {
        return chunks == 0 ? 0 : guess(ends[chunks - 1]);
    }

    /** Tokens of so many bytes of text. */
    public static int guess(int bytes) {
        return Math.ceilDiv(bytes, BYTES_PER_TOKEN);
    }

    /** Bytes to chunks. Marks between values are bytes that UTF-8 does not have. */
    private static final class Writer {
        private static final XXHash64 HASH = XXHashFactory.fastestJavaInstance().hash64();

        private static final int CHUNK_BYTES = 256;
        private static final byte END = (byte) 0xff;
        private static final byte LIST = (byte) 0xfe;
        private static final byte MAP = (byte) 0xfd;
        private static final byte NULL = (byte) 0xfc;
        private static final byte OTHER = (byte) 0xfb;

        /** No prompt depends on them; clients move {@code cache_control} from turn to turn. */
        private static final Set<String> NOT_IN_PROMPTS = Set.of("cache_control");

        private final byte[] chunk = new byte[CHUNK_BYTES];
        private int length;
        private int written;
        private int[] ids = new int[32 * IDS_PER_CHUNK];
        private int[] ends = new int[32];
        private int count;

        /** Of every chat; its messages begin a chunk. */
        void head(String model) {
            value(model);
            mark(LIST); // no text, whatever that is
            cut();
        }

        void part(String name, @Nullable Object value) {
            value(name);
            value(value);
            cut();
        }

        /** {@code others}: role and content may be among them. */
        void message(@Nullable Object role, @Nullable Object content, Map<?, ?> others) {
            value("message");
            value(role);
            if (content instanceof List<?> parts) {
                mark(LIST);
                for (Object part : parts) {
                    contentPart(part);
                }
                mark(END);
            } else {
                value(content == null ? "" : content);
            }
            members(others, Set.of("role", "content"), false);
            cut();
        }

        /** What is not text may be megabytes that are few tokens. */
        private void contentPart(@Nullable Object part) {
            if (part instanceof Map<?, ?> members) {
                mark(MAP);
                members(members, NOT_IN_PROMPTS, !"text".equals(members.get("type")));
                mark(END);
            } else {
                value(part);
            }
        }

        void value(@Nullable Object value) {
            value(value, false);
        }

        private void value(@Nullable Object value, boolean brief) {
            switch (value) {
                case null -> mark(NULL);
                case String text -> {
                    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                    if (brief && bytes.length > CHUNK_BYTES) {
                        add(Long.toHexString(HASH.hash(bytes, 0, bytes.length, 0)));
                    } else {
                        add(bytes);
                    }
                    mark(END);
                }
                case List<?> list -> {
                    mark(LIST);
                    list.forEach(one -> value(one, brief));
                    mark(END);
                }
                case Map<?, ?> map -> {
                    mark(MAP);
                    members(map, NOT_IN_PROMPTS, brief);
                    mark(END);
                }
                default -> {
                    mark(OTHER);
                    add(value.toString());
                    mark(END);
                }
            }
        }

        /** By name; what is null is as if it were not there. */
        private void members(Map<?, ?> map, Set<String> without, boolean brief) {
            if (map.isEmpty()) {
                return;
            }
            Map<String, Object> sorted = new TreeMap<>();
            map.forEach(
                    (name, value) -> {
                        if (value != null && !without.contains(String.valueOf(name))) {
                            sorted.put(String.valueOf(name), value);
                        }
                    });
            sorted.forEach(
                    (name, value) -> {
                        value(name, false);
                        value(value, brief);
                    });
        }

        private void mark(byte mark) {
            if (length == CHUNK_BYTES) {
                cut();
            }
            chunk[length++] = mark;
        }

        private void add(String ascii) {
            add(ascii.getBytes(StandardCharsets.US_ASCII));
        }

        private void add(byte[] bytes) {
            int at = 0;
            while (at < bytes.length) {
                if (length == CHUNK_BYTES) {
                    cut();
                }
                int fits = Math.min(CHUNK_BYTES - length, bytes.length - at);
                System.arraycopy(bytes, at, chunk, length, fits);
                length += fits;
                at += fits;
            }
        }

        private void cut() {
            if (length == 0) {
                return;
            }
            if (count == ends.length) {
                ends = Arrays.copyOf(ends, 2 * count);
                ids = Arrays.copyOf(ids, 2 * ids.length);
            }
            long hash = HASH.hash(chunk, 0, length, 0);
            ids[IDS_PER_CHUNK * count] = (int) hash;
            ids[IDS_PER_CHUNK * count + 1] = (int) (hash >>> 32);
            written += length;
            ends[count++] = written;
            length = 0;
        }

        TextChunks chunks() {
            cut();
            return new TextChunks(
                    Arrays.copyOf(ids, IDS_PER_CHUNK * count), Arrays.copyOf(ends, count));
        }
    }
}
