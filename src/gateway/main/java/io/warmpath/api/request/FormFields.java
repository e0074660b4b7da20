package io.warmpath.api.request;

import static io.warmpath.api.error.InvalidRequest.bad;

import com.fasterxml.jackson.core.JsonParser;
import io.vertx.core.MultiMap;
import io.warmpath.api.json.JsonInput;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.ByteRange;
import io.warmpath.net.HeapBytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields that matter of a multipart form (RFC 7578), as speech and image APIs send it:
 * {@code model}, and what acts on engines. Looks for boundaries and at the heads of parts; files
 * are stepped over and not copied. A form that two readers could take apart differently is refused:
 * its boundary, charset or a part's name given twice or in an uncommon way. One per form, one
 * thread.
 */
final class FormFields {
    private static final Pattern PARAMETER =
            Pattern.compile(
                    "\\s*;\\s*([A-Za-z0-9_*-]+)\\s*=\\s*"
                            + "(?:\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"|([^;\\s\"\\\\]+))");

    /** Longest head of a part, and longest name of a model. */
    private static final int LONGEST = 4096;

    private static final int LONGEST_BOUNDARY = 200;
    private static final byte[] HEAD_END = ascii("\r\n\r\n");
    private static final String DISPOSITION = "content-disposition:";

    private final byte[] b;
    private final int offset;
    private final int end;
    private final byte[] delimiter;
    private final RequestFields fields;

    /** Why the form is refused, once a model has been found in it. */
    private @Nullable String unclear;

    private FormFields(HeapBytes body, String boundary, RequestFields fields) {
        this.b = body.array();
        this.offset = body.offset();
        this.end = body.offset() + body.length();
        this.delimiter = ascii("\r\n--" + boundary);
        this.fields = fields;
    }

    static boolean isForm(MultiMap headers) {
        String type = headers.get("content-type");
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("multipart/form-data");
    }

    /**
     * @throws GatewayException BadRequest for a form that is not clear
     */
    static void read(MultiMap headers, HeapBytes body, RequestFields fields) {
        Map<String, String> type = parameters(String.valueOf(headers.get("content-type")));
        String boundary = type == null ? null : type.get("boundary");
        if (type == null
                || boundary == null
                || boundary.isEmpty()
                || boundary.length() > LONGEST_BOUNDARY
                || !type.getOrDefault("charset", "utf-8").equalsIgnoreCase("utf-8")) {
            throw unclear("the header `Content-Type` needs one plain boundary, and UTF-8");
        }
        FormFields form = new FormFields(body, boundary, fields);
        form.parts();
        if (fields.model != null && form.unclear != null) {
            throw unclear(form.unclear);
        }
    }

    private static GatewayException unclear(String why) {
        return bad("", "The form can be read in more than one way: " + why + ".");
    }

    private void parts() {
        int part = firstPart();
        while (part >= 0 && unclear == null) {
            if (isAt(part, "--")) {
                return; // the closing boundary; nobody reads what follows
            }
            int head = isAt(part, "\r\n") ? find(part, part + LONGEST, HEAD_END) : -1;
            int value = head + HEAD_END.length;
            int next = head < 0 ? -1 : find(value, end, delimiter);
            if (next < 0) {
                unclear = "a part has no end, or no head of at most " + LONGEST + " bytes";
                return;
            }
            part(name(part + 2, head), value, next);
            part = next + delimiter.length;
        }
    }

    /** {@code name}: null: not clear. */
    private void part(@Nullable String name, int from, int to) {
        if (name == null) {
            unclear = "each part needs one plain Content-Disposition with one `name`";
            return;
        }
        RequestMember m = RequestMember.of(name);
        if (m == RequestMember.MODEL) {
            model(from, to);
        } else if (m == RequestMember.VLLM_XARGS) {
            extraArguments(from, to);
        } else if (m != null && m.isForEngines()) {
            fields.forEngines(name);
        }
    }

    private void model(int from, int to) {
        if (fields.model != null) {
            unclear = "`model` is given twice";
        } else if (to - from <= LONGEST) {
            fields.model = new String(b, from, to - from, StandardCharsets.UTF_8);
            fields.modelSpan = new ByteRange(from - offset, to - offset);
        }
    }

    private void extraArguments(int from, int to) {
        try (JsonParser json = JsonInput.parser(b, from, to - from)) {
            json.nextToken();
            JacksonReader.extraArguments("vllm_xargs", json, fields);
            if (json.nextToken() != null) {
                throw new IOException("something behind the value");
            }
        } catch (IOException e) {
            unclear = "`vllm_xargs` is no JSON";
        }
    }

    /** The name that the part's head gives it; null when it is not clear. */
    private @Nullable String name(int from, int to) {
        String name = null;
        String head = new String(b, from, Math.max(0, to - from), StandardCharsets.UTF_8);
        for (String line : head.split("\r\n", -1)) {
            boolean plain = !line.isEmpty() && line.charAt(0) > ' ' && line.indexOf(':') > 0;
            if (!plain || line.indexOf('\r') >= 0 || line.indexOf('\n') >= 0) {
                return null;
            }
            if (line.regionMatches(true, 0, DISPOSITION, 0, DISPOSITION.length())) {
                String disposition = line.substring(DISPOSITION.length()).strip();
                Map<String, String> given =
                        disposition.regionMatches(true, 0, "form-data", 0, 9)
                                ? parameters(disposition)
                                : null;
                if (name != null || given == null) {
                    return null;
                }
                name = given.get("name");
            }
        }
        return name == null || name.indexOf('\\') >= 0 ? null : name;
    }

    /** Behind a type, by their names in lower case; null when they are not plain. */
    private static @Nullable Map<String, String> parameters(String header) {
        int from = header.indexOf(';');
        Map<String, String> found = new HashMap<>();
        if (from < 0) {
            return found;
        }
        Matcher one = PARAMETER.matcher(header).region(from, header.length());
        while (one.lookingAt()) {
            String name = one.group(1).toLowerCase(Locale.ROOT);
            String value = one.group(2) != null ? one.group(2) : one.group(3);
            boolean fileName = name.startsWith("filename");
            if ((!fileName && name.indexOf('*') >= 0) || found.put(name, value) != null) {
                return null;
            }
            one.region(one.end(), header.length());
        }
        String rest = header.substring(one.regionStart()).strip();
        return rest.isEmpty() || rest.equals(";") ? found : null;
    }

    /**
     * Behind the first boundary, which needs no line end before it at the very beginning; or -1.
     */
    private int firstPart() {
        int bare = delimiter.length - 2;
        if (end - offset >= bare
                && Arrays.equals(b, offset, offset + bare, delimiter, 2, delimiter.length)) {
            return offset + bare;
        }
        int first = find(offset, end, delimiter);
        return first < 0 ? -1 : first + delimiter.length;
    }

    private boolean isAt(int at, String two) {
        return at + 1 < end && b[at] == two.charAt(0) && b[at + 1] == two.charAt(1);
    }

    /** Linear for what begins with a CR and has no other, as boundaries do. */
    private int find(int from, int to, byte[] what) {
        int last = Math.min(to, end) - what.length;
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
