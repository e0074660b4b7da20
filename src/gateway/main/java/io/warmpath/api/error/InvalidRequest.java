package io.warmpath.api.error;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.net.HeapBytes;
import java.util.regex.Pattern;

/** What is wrong with a request's body, in words for its sender. Any thread. */
public final class InvalidRequest {
    /** Jackson's note on where its input came from; says nothing to a client. */
    private static final Pattern SOURCE_NOTE =
            Pattern.compile("\\[Source: .*?(?=line: \\d)|(?<=column: \\d{1,10})\\]");

    /** Of a path that means another one than it is written as. */
    public static final GatewayError NOT_CANONICAL =
            new GatewayError.BadRequest(
                    "",
                    "The path must be written in its shortest form: no `//`, no `.` or `..`"
                            + " between slashes, letters and digits without percent-encoding.");

    /** Of a head that the codec has taken. */
    public static final GatewayError NOT_HTTP =
            new GatewayError.NotHttp(400, "The request is not valid HTTP.");

    private InvalidRequest() {}

    /** {@code param}: path of the member that is wrong; empty: the body as a whole. */
    public static GatewayException bad(String param, String message) {
        return new GatewayException(new GatewayError.BadRequest(param, message));
    }

    /** End of a sentence about a member: what the value is instead. */
    public static String but(JsonToken value) {
        return switch (value) {
            case VALUE_STRING -> ", but it is a string.";
            case VALUE_NUMBER_INT -> ", but it is a number.";
            case VALUE_NUMBER_FLOAT -> ", but it is a number with a fraction.";
            case VALUE_TRUE, VALUE_FALSE -> ", but it is a boolean.";
            case START_ARRAY -> ", but it is an array.";
            case START_OBJECT -> ", but it is an object.";
            default -> ", but it is null.";
        };
    }

    /** A member that the direct API has no meaning for. */
    public static GatewayException unknown(String path) {
        return bad(path, "`" + path + "` is not known here; see src/docs/reference/direct-api.md.");
    }

    public static GatewayException notJson(JsonProcessingException e) {
        String what = e.getOriginalMessage();
        if (what == null) {
            what = "unreadable";
        }
        what = SOURCE_NOTE.matcher(what).replaceAll("");
        if (what.length() > 200) {
            what = what.substring(0, 200) + "...";
        }
        JsonLocation at = e.getLocation();
        return bad(
                "",
                "The request body is not valid JSON: "
                        + what.strip()
                        + (at == null
                                ? ""
                                : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")")
                        + ".");
    }

    /**
     * Jackson would read UTF-16 and UTF-32 too, and then the offsets were not those of the bytes.
     */
    public static void rejectOtherEncodings(HeapBytes b) {
        boolean other =
                b.length() >= 2
                        && (b.array()[b.offset()] == 0
                                || b.array()[b.offset() + 1] == 0
                                || (b.array()[b.offset()] & 0xff) >= 0xfe);
        if (isCompressed(b)) {
            throw bad(
                    "",
                    "The request body is compressed; it must be sent without Content-Encoding.");
        }
        if (other) {
            throw bad("", "The request body must be UTF-8.");
        }
    }

    /** It begins as gzip (RFC 1952) or Zstandard (RFC 8878) do; the others have no such mark. */
    private static boolean isCompressed(HeapBytes b) {
        if (b.length() < 4) {
            return false;
        }
        byte[] a = b.array();
        int at = b.offset();
        boolean gzip = a[at] == 0x1f && a[at + 1] == (byte) 0x8b;
        boolean zstd =
                a[at] == 0x28
                        && a[at + 1] == (byte) 0xb5
                        && a[at + 2] == 0x2f
                        && a[at + 3] == (byte) 0xfd;
        return gzip || zstd;
    }
}
