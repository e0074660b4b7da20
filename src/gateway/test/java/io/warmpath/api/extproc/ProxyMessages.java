package io.warmpath.api.extproc;

import io.warmpath.api.extproc.ProcessingRequest.Kind;
import io.warmpath.api.extproc.ProcessingRequest.Modes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a proxy writes and reads, for tests: the other side of the product's codec. */
public final class ProxyMessages {
    private static final String[] SPACES = {"envoy.lb.subset_hint", "envoy.lb"};

    private ProxyMessages() {}

    /** One gRPC frame of headers, names and values in turn. */
    public static byte[] head(
            Kind kind,
            boolean end,
            @Nullable Modes modes,
            @Nullable List<String> subset,
            @Nullable String served,
            String... headers) {
        ProtoWriter out = new ProtoWriter(64);
        if (modes != null) {
            int config = out.mark();
            out.number(2, number(modes.response()));
            out.number(1, number(modes.request()));
            out.message(11, config);
        }
        int context = out.mark();
        if (subset != null) {
            int space = out.mark();
            for (int i = subset.size() - 1; i >= 0; i--) {
                int value = out.mark();
                out.utf8(3, subset.get(i));
                out.message(1, value);
            }
            out.message(6, space);
            member(out, space, SPACES[0], ProcessingRequest.DESTINATION + "-subset");
        }
        if (served != null) {
            int space = out.mark();
            out.utf8(3, served);
            member(out, space, SPACES[1], ProcessingRequest.DESTINATION + "-served");
        }
        out.message(8, context);
        int about = out.mark();
        if (end) {
            out.number(3, 1);
        }
        int map = out.mark();
        for (int i = headers.length - 2; i >= 0; i -= 2) {
            int header = out.mark();
            out.latin1(3, headers[i + 1]);
            out.latin1(1, headers[i]);
            out.message(1, header);
        }
        out.message(1, map);
        out.message(field(kind), about);
        return out.frame();
    }

    /** A value that was written since {@code mark} becomes a member of a namespace's struct. */
    private static void member(ProtoWriter out, int mark, String space, String key) {
        out.message(2, mark);
        out.utf8(1, key);
        out.message(1, mark);
        out.message(2, mark);
        out.utf8(1, space);
        out.message(1, mark);
    }

    public static byte[] body(Kind kind, byte[] bytes, boolean end) {
        ProtoWriter out = new ProtoWriter(64);
        if (end) {
            out.number(2, 1);
        }
        out.bytes(1, bytes, 0, bytes.length);
        out.message(field(kind), 0);
        return out.frame();
    }

    public static byte[] trailers(Kind kind) {
        ProtoWriter out = new ProtoWriter(64);
        out.message(field(kind), 0);
        return out.frame();
    }

    private static int number(BodyMode mode) {
        return List.of(BodyMode.values()).indexOf(mode);
    }

    private static Kind answered(int field) {
        return Stream.of(Kind.values()).filter(k -> k.answerField == field).findAny().orElseThrow();
    }

    private static int field(Kind kind) {
        return kind.answerField + 1;
    }

    /**
     * What a picker has answered.
     *
     * @param kind null: at once, to the client
     * @param status of an answer at once
     * @param destination as metadata has it; null: none
     * @param body of a piece, in place of the body, or of an answer at once; null: none
     * @param streamed the body is a piece of a stream
     */
    public record Answer(
            @Nullable Kind kind,
            int status,
            Map<String, String> set,
            List<String> removed,
            @Nullable String destination,
            byte @Nullable [] body,
            boolean streamed,
            boolean end,
            boolean clearsRoute) {}

    /** Reads one message. */
    public static Answer read(byte[] b, int from, int length) {
        return new Reader().read(new ProtoReader(b, from, length));
    }

    private static final class Reader {
        private @Nullable Kind kind;
        private int status;
        private final Map<String, String> set = new LinkedHashMap<>();
        private final List<String> removed = new ArrayList<>();
        private @Nullable String destination;
        private byte @Nullable [] body;
        private boolean streamed;
        private boolean end;
        private boolean clearsRoute;

        Answer read(ProtoReader message) {
            for (int field = message.next(); field != 0; field = message.next()) {
                if (field == 7) {
                    immediate(message.message());
                } else if (field == 8) {
                    metadata(message.message());
                } else {
                    kind = answered(field);
                    about(message.message());
                }
            }
            return new Answer(
                    kind, status, set, removed, destination, body, streamed, end, clearsRoute);
        }

        private void about(ProtoReader response) {
            for (int field = response.next(); field != 0; field = response.next()) {
                ProtoReader common = response.message();
                for (int part = common.next(); part != 0; part = common.next()) {
                    switch (part) {
                        case 2 -> mutation(common.message());
                        case 3 -> body(common.message());
                        case 5 -> clearsRoute = common.flag();
                        default -> throw new AssertionError("field " + part);
                    }
                }
            }
        }

        private void body(ProtoReader mutation) {
            int field = mutation.next();
            if (field == 1) {
                body = bytes(mutation);
                return;
            }
            streamed = true;
            ProtoReader piece = mutation.message();
            body = new byte[0];
            for (int part = piece.next(); part != 0; part = piece.next()) {
                if (part == 1) {
                    body = bytes(piece);
                } else {
                    end = piece.flag();
                }
            }
        }

        private static byte[] bytes(ProtoReader at) {
            return at.latin1().getBytes(StandardCharsets.ISO_8859_1);
        }

        private void mutation(ProtoReader mutation) {
            for (int field = mutation.next(); field != 0; field = mutation.next()) {
                if (field == 2) {
                    removed.add(mutation.latin1());
                    continue;
                }
                ProtoReader option = mutation.message();
                for (int part = option.next(); part != 0; part = option.next()) {
                    if (part == 1) {
                        ProtoReader header = option.message();
                        header.next();
                        String name = header.latin1();
                        header.next();
                        set.put(name, header.latin1());
                    } else if (option.number() != 2) {
                        throw new AssertionError("headers are appended, not replaced");
                    }
                }
            }
        }

        private void immediate(ProtoReader answer) {
            for (int field = answer.next(); field != 0; field = answer.next()) {
                switch (field) {
                    case 1 -> {
                        ProtoReader code = answer.message();
                        code.next();
                        status = (int) code.number();
                    }
                    case 2 -> mutation(answer.message());
                    case 3 -> body = bytes(answer);
                    default -> answer.utf8(); // details
                }
            }
        }

        private void metadata(ProtoReader struct) {
            struct.next();
            ProtoReader space = struct.message();
            space.next();
            if (!space.utf8().equals("envoy.lb")) {
                throw new AssertionError(space.utf8());
            }
            space.next();
            ProtoReader value = space.message();
            value.next();
            ProtoReader inner = value.message();
            inner.next();
            ProtoReader member = inner.message();
            member.next();
            if (!member.utf8().equals(ProcessingRequest.DESTINATION)) {
                throw new AssertionError(member.utf8());
            }
            member.next();
            ProtoReader text = member.message();
            text.next();
            destination = text.utf8();
        }
    }
}
