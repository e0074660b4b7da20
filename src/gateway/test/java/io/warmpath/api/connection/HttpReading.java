package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpRequest;
import io.warmpath.net.server.ServerReading;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a reader has made of a stream of requests, in the records of {@code http_judge.c}. */
final class HttpReading {
    static final char HEAD = 'H';
    static final char END = 'E';
    static final char STATE = 'S';

    private static final Set<String> KNOWN_METHODS =
            Set.of("GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE");

    private static final Pattern LENGTH = Pattern.compile("(?i)\ncontent-length:0*(\\d+)");

    private final List<Character> types = new ArrayList<>(4);
    private final List<byte[]> texts = new ArrayList<>(4);

    void add(char type, byte[] text) {
        types.add(type);
        texts.add(text);
    }

    /** As the server reads it; {@code inlet} is asked at the beginning of each request. */
    static HttpReading ofServer(
            ServerReading.Rules rules, Inlet inlet, byte[] bytes, int length, int[] cuts)
            throws Exception {
        Server server = new Server(inlet, bytes, length);
        ServerReading.State state = ServerReading.read(rules, bytes, length, cuts, server);
        server.begins(state);
        server.reading.add(
                STATE,
                switch (state) {
                    case WAITING -> "waiting".getBytes(StandardCharsets.US_ASCII);
                    case CLOSED -> "closed".getBytes(StandardCharsets.US_ASCII);
                    case REFUSED -> "refused".getBytes(StandardCharsets.US_ASCII);
                });
        return server.reading;
    }

    /** Takes requests before the decoder sees them. */
    interface Inlet {
        Inlet PRODUCT = RawHead::read;

        @Nullable RawHead read(byte[] from, int length);
    }

    /** The inlet and the decoder have not read the same. */
    static final class Disagreement extends RuntimeException {
        Disagreement(String message) {
            super(message, null, false, false);
        }
    }

    private static final class Server implements ServerReading.Seen {
        private static final long HASH = 0xcbf29ce484222325L;

        final HttpReading reading = new HttpReading();
        private final Inlet inlet;
        private final byte[] bytes;
        private final int length;
        private int from;
        private long bodyLength;
        private long hash;
        private @Nullable RawHead taken;

        Server(Inlet inlet, byte[] bytes, int length) {
            this.inlet = inlet;
            this.bytes = bytes;
            this.length = length;
        }

        private @Nullable RawHead inlet() {
            return from + 5 < length && bytes[from] == 'P' && bytes[from + 1] == 'O'
                    ? inlet.read(Arrays.copyOfRange(bytes, from, length), length - from)
                    : null;
        }

        /** Nothing more was read by the decoder. */
        void begins(ServerReading.State state) {
            if (state != ServerReading.State.CLOSED && taken == null && inlet() != null) {
                throw new Disagreement("the inlet takes what the decoder does not, at " + from);
            }
        }

        @Override
        public void head(HttpRequest request, int at, int to) {
            ByteArrayOutputStream text = new ByteArrayOutputStream(256);
            put(text, request.method().name());
            text.write(' ');
            put(text, request.uri());
            text.write(' ');
            put(text, Integer.toString(request.protocolVersion().minorVersion()));
            text.write('\n');
            Iterator<Map.Entry<CharSequence, CharSequence>> headers =
                    request.headers().iteratorCharSequence();
            while (headers.hasNext()) {
                Map.Entry<CharSequence, CharSequence> header = headers.next();
                put(text, header.getKey());
                text.write(':');
                put(text, header.getValue());
                text.write('\n');
            }
            byte[] head = text.toByteArray();
            reading.add(HEAD, head);
            bodyLength = 0;
            hash = HASH;
            taken = inlet();
            if (taken != null) {
                compare(taken, head, to - from);
            }
        }

        private static void compare(RawHead taken, byte[] head, int length) {
            ByteArrayOutputStream text = new ByteArrayOutputStream(256);
            put(text, "POST " + taken.path().path() + " 1\n");
            for (Map.Entry<String, String> header : taken.headers()) {
                put(text, header.getKey() + ":" + header.getValue() + "\n");
            }
            if (!Arrays.equals(text.toByteArray(), head) || taken.length() != length) {
                throw new Disagreement("the inlet reads " + text);
            }
        }

        private static void put(ByteArrayOutputStream to, CharSequence text) {
            for (int i = 0; i < text.length(); i++) {
                to.write(text.charAt(i));
            }
        }

        @Override
        public void body(ByteBuf content) {
            bodyLength += content.readableBytes();
            for (int i = content.readerIndex(); i < content.writerIndex(); i++) {
                hash = (hash ^ (content.getByte(i) & 0xff)) * 0x100000001b3L;
            }
        }

        @Override
        public void end(int at) {
            if (taken != null && taken.bodyLength() != bodyLength) {
                throw new Disagreement("the inlet reads a body of " + taken.bodyLength());
            }
            taken = null;
            from = at;
            reading.add(
                    END,
                    (bodyLength + " " + hex(hash) + " " + at).getBytes(StandardCharsets.US_ASCII));
        }

        private static String hex(long value) {
            String digits = Long.toHexString(value);
            return "0".repeat(16 - digits.length()) + digits;
        }
    }

    /**
     * Why the server may not read so, where a judge reads otherwise; null: it may. The server may
     * refuse what the judge takes, and nothing else.
     */
    static @Nullable String wrong(HttpReading server, HttpReading judge) {
        for (int i = 0; ; i++) {
            char ours = server.types.get(i);
            char theirs = judge.types.get(i);
            if (ours == STATE && theirs == STATE) {
                return null;
            }
            if (theirs == STATE) {
                String state = judge.text(i);
                boolean cannotTell =
                        state.equals("closed")
                                || (state.equals("method")
                                        && ours == HEAD
                                        && !KNOWN_METHODS.contains(
                                                server.text(i).split(" ", 2)[0]));
                return cannotTell ? null : "the server takes more than the judge";
            }
            if (ours == STATE) {
                return server.text(i).equals("waiting")
                        ? "the judge sees an end that the server does not"
                        : null;
            }
            if (ours != theirs || !same(server, judge, i)) {
                return "the server and the judge read different requests";
            }
        }
    }

    private static boolean same(HttpReading server, HttpReading judge, int i) {
        return Arrays.equals(server.texts.get(i), judge.texts.get(i))
                || sameLength(server.text(i)).equals(sameLength(judge.text(i)));
    }

    /** Netty writes a length with zeros before it anew. */
    private static String sameLength(String head) {
        Matcher length = LENGTH.matcher(head);
        return length.find() ? length.group(1) + length.replaceFirst("") : head;
    }

    /** Requests that were read to their end. */
    int requests() {
        return (int) types.stream().filter(t -> t == END).count();
    }

    boolean isRefused() {
        return text(types.size() - 1).startsWith("refused");
    }

    private String text(int i) {
        return new String(texts.get(i), StandardCharsets.ISO_8859_1);
    }

    @Override
    public String toString() {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < types.size(); i++) {
            all.append(types.get(i)).append(' ').append(text(i)).append('\n');
        }
        return all.toString();
    }
}
