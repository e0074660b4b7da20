package io.warmpath.api.request;

import io.vertx.core.MultiMap;
import io.warmpath.gateway.request.ByteRange;
import io.warmpath.net.HeapBytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the field {@code model} of a multipart form (RFC 7578), as speech and image APIs send it.
 *
 * <p>Looks for boundaries and at the heads of parts; files are stepped over and nothing is copied.
 * What is no form is left to the engine. Stateless.
 */
final class FormModel {
    private static final Pattern BOUNDARY =
            Pattern.compile("(?i);\\s*boundary=(?:\"([^\"]{1,200})\"|([^;\\s\"]{1,200}))");
    private static final Pattern FIELD =
            Pattern.compile(
                    "(?im)^content-disposition:\\s*form-data\\s*;(?:[^\\r\\n]*;)?\\s*"
                            + "name=(?:\"model\"|model)\\s*(?:;|\\r?$)");

    /** Longest head of a part that is read, and longest name of a model. */
    private static final int LONGEST = 4096;

    private static final byte[] HEAD_END = ascii("\r\n\r\n");

    private FormModel() {}

    static boolean isForm(MultiMap headers) {
        String type = headers.get("content-type");
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("multipart/form-data");
    }

    /**
     * Where its value lies, relative to the body's first byte.
     *
     * @return null when there is no such field
     */
    static @Nullable ByteRange find(MultiMap headers, HeapBytes body) {
        Matcher named = BOUNDARY.matcher(headers.get("content-type"));
        if (!named.find()) {
            return null;
        }
        byte[] delimiter =
                ascii("\r\n--" + (named.group(1) != null ? named.group(1) : named.group(2)));
        byte[] b = body.array();
        int end = body.offset() + body.length();
        int part = firstPart(b, body.offset(), end, delimiter);
        while (part >= 0) {
            int head = find(b, part, Math.min(end, part + LONGEST), HEAD_END);
            int next = find(b, head < 0 ? part : head, end, delimiter);
            if (head >= 0 && next >= 0 && isModel(b, part, head)) {
                int from = head + HEAD_END.length;
                return next < from || next - from > LONGEST
                        ? null
                        : new ByteRange(from - body.offset(), next - body.offset());
            }
            part = next < 0 ? -1 : next + delimiter.length;
        }
        return null;
    }

    /**
     * Behind the first boundary, which needs no line end before it at the very beginning; or -1.
     */
    private static int firstPart(byte[] b, int from, int to, byte[] delimiter) {
        int bare = delimiter.length - 2;
        if (to - from >= bare
                && Arrays.equals(b, from, from + bare, delimiter, 2, delimiter.length)) {
            return from + bare;
        }
        int first = find(b, from, to, delimiter);
        return first < 0 ? -1 : first + delimiter.length;
    }

    private static boolean isModel(byte[] b, int from, int to) {
        return FIELD.matcher(new String(b, from, to - from, StandardCharsets.ISO_8859_1)).find();
    }

    /** Linear for what begins with a CR and has no other, as boundaries do. */
    private static int find(byte[] b, int from, int to, byte[] what) {
        int last = to - what.length;
        for (int i = from; i <= last; i++) {
            int k = 0;
            while (k < what.length && b[i + k] == what[k]) {
                k++;
            }
            if (k == what.length) {
                return i;
            }
        }
        return -1;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
