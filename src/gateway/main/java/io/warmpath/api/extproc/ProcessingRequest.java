package io.warmpath.api.extproc;

import io.warmpath.net.HeaderList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a proxy tells of one request of its client: one message of {@code
 * envoy.service.ext_proc.v3.ProcessingRequest}, as far as a picker looks at it. Fields that are not
 * known here are stepped over.
 *
 * @param headers of headers and trailers, pseudo-headers among them; empty for bodies
 * @param array where the body's bytes are: {@code length} from {@code from} on; only until the
 *     receiver of the message returns
 * @param endOfStream nothing of this side follows
 * @param modes how bodies are sent; null: the message does not say, as all but the first
 * @param subset the endpoints that may be chosen, {@code ip:port} or {@code ip}, maybe none at all;
 *     null: the pool's
 * @param served the endpoint that has answered; null: not said
 */
public record ProcessingRequest(
        Kind kind,
        HeaderList headers,
        byte[] array,
        int from,
        int length,
        boolean endOfStream,
        @Nullable Modes modes,
        @Nullable List<String> subset,
        @Nullable String served) {
    /** What a message is about, in the order of the protocol's fields. */
    public enum Kind {
        REQUEST_HEADERS(1),
        RESPONSE_HEADERS(2),
        REQUEST_BODY(3),
        RESPONSE_BODY(4),
        REQUEST_TRAILERS(5),
        RESPONSE_TRAILERS(6);

        private static final int FIRST_FIELD = 2;
        private static final Kind[] ALL = values();

        /** The field of an answer to it. */
        final int answerField;

        Kind(int answerField) {
            this.answerField = answerField;
        }

        private static @Nullable Kind of(int field) {
            int at = field - FIRST_FIELD;
            return at >= 0 && at < ALL.length ? ALL[at] : null;
        }

        boolean isBody() {
            return this == REQUEST_BODY || this == RESPONSE_BODY;
        }
    }

    /** How the proxy sends the bodies of requests and of their answers. */
    public record Modes(BodyMode request, BodyMode response) {
        /** What the Gateway API Inference Extension asks of proxies. */
        public static final Modes DUPLEX =
                new Modes(BodyMode.FULL_DUPLEX_STREAMED, BodyMode.FULL_DUPLEX_STREAMED);
    }

    /** The destination, as a header and in metadata. */
    public static final String DESTINATION = "x-gateway-destination-endpoint";

    static final String LB = "envoy.lb";
    private static final String HINT = "envoy.lb.subset_hint";
    private static final String SUBSET = DESTINATION + "-subset";
    private static final String SERVED = DESTINATION + "-served";

    private static final byte[] NOTHING = {};
    private static final int METADATA = 8;
    private static final int MODES = 11;

    /** Envoy's own bound is 60 KiB unless it is set higher. */
    private static final int MOST_HEADERS = 64 << 10;

    /** With what is told beside them: the endpoints of a pool, 22 bytes each. */
    private static final int MOST_HEAD = 256 << 10;

    /** Values in values, in metadata; a real one has two. */
    private static final int DEEPEST = 16;

    /**
     * @throws HeadTooLargeException it is about headers, which are too long
     * @throws WireFormatException the bytes are no such message
     */
    public static ProcessingRequest read(byte[] b, int from, int length) {
        ProtoReader message = new ProtoReader(b, from, length);
        Kind kind = null;
        ProtoReader about = null;
        ProtoReader metadata = null;
        Modes modes = null;
        for (int field = message.next(); field != 0; field = message.next()) {
            Kind known = Kind.of(field);
            if (known != null) {
                kind = known;
                about = message.message();
            } else if (field == METADATA) {
                metadata = message.message();
            } else if (field == MODES) {
                modes = modes(message.message());
            }
        }
        if (kind == null || about == null) {
            throw new WireFormatException("a message about nothing that is known");
        }
        if (kind.isBody()) {
            return body(kind, about, b, modes);
        }
        within(about.left(), MOST_HEADERS);
        within(length, MOST_HEAD);
        Metadata told = metadata == null ? Metadata.NONE : Metadata.read(metadata);
        HeaderList headers = new HeaderList();
        boolean end = false;
        for (int field = about.next(); field != 0; field = about.next()) {
            if (field == 1) {
                headers(about.message(), headers);
            } else if (field == 3) {
                end = about.flag();
            }
        }
        return new ProcessingRequest(
                kind, headers, NOTHING, 0, 0, end, modes, told.subset, told.served);
    }

    private static void within(int bytes, int most) {
        if (bytes > most) {
            throw new HeadTooLargeException(bytes, most);
        }
    }

    private static final HeaderList NO_HEADERS = new HeaderList();

    private static ProcessingRequest body(
            Kind kind, ProtoReader body, byte[] b, @Nullable Modes modes) {
        int from = 0;
        int length = 0;
        boolean end = false;
        for (int field = body.next(); field != 0; field = body.next()) {
            if (field == 1) {
                from = body.from();
                length = body.length();
            } else if (field == 2) {
                end = body.flag();
            }
        }
        return new ProcessingRequest(kind, NO_HEADERS, b, from, length, end, modes, null, null);
    }

    private static Modes modes(ProtoReader config) {
        long request = 0;
        long response = 0;
        for (int field = config.next(); field != 0; field = config.next()) {
            if (field == 1) {
                request = config.number();
            } else if (field == 2) {
                response = config.number();
            }
        }
        return new Modes(BodyMode.of(request), BodyMode.of(response));
    }

    private static void headers(ProtoReader map, HeaderList to) {
        for (int field = map.next(); field != 0; field = map.next()) {
            if (field != 1) {
                continue;
            }
            ProtoReader header = map.message();
            String name = "";
            String value = "";
            for (int part = header.next(); part != 0; part = header.next()) {
                if (part == 1) {
                    name = header.latin1();
                } else if (part == 2 || part == 3) { // value, raw_value: one of them is empty
                    value = header.length() == 0 ? value : header.latin1();
                }
            }
            if (!name.isEmpty()) {
                to.add(name, value);
            }
        }
    }

    /** One of a map. {@code value}: a message without fields where the entry has none. */
    private record Entry(String key, ProtoReader value) {
        static Entry read(ProtoReader entry) {
            String key = "";
            ProtoReader value = new ProtoReader(NOTHING, 0, 0);
            for (int field = entry.next(); field != 0; field = entry.next()) {
                if (field == 1) {
                    key = entry.utf8();
                } else if (field == 2) {
                    value = entry.message();
                }
            }
            return new Entry(key, value);
        }
    }

    /** What {@code metadata_context} says. */
    private record Metadata(@Nullable List<String> subset, @Nullable String served) {
        static final Metadata NONE = new Metadata(null, null);

        static Metadata read(ProtoReader context) {
            List<String> subset = null;
            List<String> served = null;
            for (int field = context.next(); field != 0; field = context.next()) {
                if (field != 1) {
                    continue; // typed metadata
                }
                Entry space = Entry.read(context.message());
                if (space.key.equals(HINT)) {
                    subset = texts(space.value, SUBSET);
                } else if (space.key.equals(LB)) {
                    served = texts(space.value, SERVED);
                }
            }
            return new Metadata(
                    subset, served == null || served.isEmpty() ? null : served.getLast());
        }

        /** The member's texts, those in lists and those between commas; null: it is not there. */
        private static @Nullable List<String> texts(ProtoReader struct, String key) {
            List<String> found = null;
            for (int field = struct.next(); field != 0; field = struct.next()) {
                if (field != 1) {
                    continue;
                }
                Entry member = Entry.read(struct.message());
                if (member.key.equals(key)) {
                    found = new ArrayList<>();
                    collect(member.value, found, DEEPEST);
                }
            }
            return found;
        }

        private static void collect(ProtoReader value, List<String> to, int deep) {
            if (deep == 0) {
                throw new WireFormatException("metadata of lists in lists");
            }
            for (int field = value.next(); field != 0; field = value.next()) {
                if (field == 3) {
                    for (String one : value.utf8().split(",", -1)) {
                        if (!one.isBlank()) {
                            to.add(one.strip());
                        }
                    }
                } else if (field == 6) {
                    ProtoReader list = value.message();
                    for (int part = list.next(); part != 0; part = list.next()) {
                        if (part == 1) {
                            collect(list.message(), to, deep - 1);
                        }
                    }
                }
            }
        }
    }
}
