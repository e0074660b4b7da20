package io.warmpath.api.extproc;

import io.warmpath.api.extproc.ProcessingRequest.Kind;
import io.warmpath.net.HeaderList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a picker answers: {@code envoy.service.ext_proc.v3.ProcessingResponse}, each as one gRPC
 * frame. Stateless; any thread.
 */
public final class ProcessingResponse {
    private static final int IMMEDIATE = 7;
    private static final int DYNAMIC_METADATA = 8;

    // Of CommonResponse.
    private static final int HEADER_MUTATION = 2;
    private static final int BODY_MUTATION = 3;
    private static final int CLEAR_ROUTE_CACHE = 5;

    /** {@code append_action}: replaces what is there. */
    private static final int OVERWRITE_IF_EXISTS_OR_ADD = 2;

    /** Tags, lengths and frame of a piece of a body. */
    private static final int PIECE_HEAD = 48;

    private static final Map<Kind, byte[]> NOTHING_TO_SAY = new EnumMap<>(Kind.class);

    static {
        for (Kind kind : Kind.values()) {
            ProtoWriter out = new ProtoWriter(16);
            out.message(kind.answerField, out.mark());
            NOTHING_TO_SAY.put(kind, out.frame());
        }
    }

    private ProcessingResponse() {}

    /**
     * Changes to a request on its way to its engine.
     *
     * @param destination {@code ip:port}, several with commas between, the first one first
     * @param set headers that replace those of the same name
     * @param remove names of headers that no client may send
     */
    public record Pick(String destination, HeaderList set, List<String> remove) {}

    /** Goes on, nothing is changed. The array is shared: it must not be written to. */
    public static byte[] unchanged(Kind kind) {
        return Objects.requireNonNull(NOTHING_TO_SAY.get(kind));
    }

    /** Headers go on with these set. */
    public static byte[] headers(Kind kind, HeaderList set) {
        ProtoWriter out = new ProtoWriter(256);
        sets(out, set);
        out.message(HEADER_MUTATION, 0);
        out.message(1, 0); // response
        out.message(kind.answerField, 0);
        return out.frame();
    }

    /** A piece of a body in full duplex. */
    public static byte[] piece(Kind kind, byte[] b, int from, int length, boolean endOfStream) {
        ProtoWriter out = new ProtoWriter(length + PIECE_HEAD);
        if (endOfStream) {
            out.number(2, 1);
        }
        if (length > 0) {
            out.bytes(1, b, from, length);
        }
        out.message(3, 0); // streamed_response
        out.message(BODY_MUTATION, 0);
        out.message(1, 0); // response
        out.message(kind.answerField, 0);
        return out.frame();
    }

    /**
     * Where the request goes, as the answer to its headers or to its whole body.
     *
     * @param body replaces the request's; null: it stays
     */
    public static byte[] pick(Kind kind, Pick pick, byte @Nullable [] body) {
        ProtoWriter out = new ProtoWriter(512 + (body == null ? 0 : body.length));
        lb(out, pick.destination);
        int begin = out.mark();
        out.number(CLEAR_ROUTE_CACHE, 1);
        if (body != null) {
            int mutation = out.mark();
            out.bytes(1, body, 0, body.length);
            out.message(BODY_MUTATION, mutation);
        }
        int mutation = out.mark();
        for (int i = pick.remove.size() - 1; i >= 0; i--) {
            out.latin1(2, pick.remove.get(i));
        }
        sets(out, pick.set);
        set(out, ProcessingRequest.DESTINATION, pick.destination);
        out.message(HEADER_MUTATION, mutation);
        out.message(1, begin); // response
        out.message(kind.answerField, begin);
        return out.frame();
    }

    private static void lb(ProtoWriter out, String destination) {
        int struct = out.mark();
        text(out, destination);
        out.utf8(1, ProcessingRequest.DESTINATION);
        out.message(1, struct); // an entry of fields
        out.message(5, struct); // struct_value
        out.message(2, struct); // the value of an entry
        out.utf8(1, ProcessingRequest.LB);
        out.message(1, struct);
        out.message(DYNAMIC_METADATA, struct);
    }

    private static void text(ProtoWriter out, String value) {
        int begin = out.mark();
        out.utf8(3, value); // string_value
        out.message(2, begin);
    }

    private static void sets(ProtoWriter out, HeaderList headers) {
        for (int i = headers.size() - 1; i >= 0; i--) {
            set(out, headers.name(i), headers.value(i));
        }
    }

    private static void set(ProtoWriter out, String name, String value) {
        int option = out.mark();
        out.number(3, OVERWRITE_IF_EXISTS_OR_ADD);
        int header = out.mark();
        out.latin1(3, value); // raw_value
        out.latin1(1, name);
        out.message(1, header);
        out.message(1, option); // set_headers
    }

    /**
     * The client gets this answer, and no engine sees the request.
     *
     * @param status one that {@code envoy.type.v3.StatusCode} knows
     * @param details for the proxy's log; no blanks
     */
    public static byte[] immediate(int status, HeaderList headers, byte[] body, String details) {
        ProtoWriter out = new ProtoWriter(256 + body.length);
        out.utf8(5, details);
        out.bytes(3, body, 0, body.length);
        int mutation = out.mark();
        sets(out, headers);
        out.message(2, mutation);
        int code = out.mark();
        out.number(1, status);
        out.message(1, code);
        out.message(IMMEDIATE, 0);
        return out.frame();
    }
}
