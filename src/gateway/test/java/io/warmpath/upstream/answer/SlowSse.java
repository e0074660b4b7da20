package io.warmpath.upstream.answer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The same reading of a stream, slow and literal: whole text, split into lines, Jackson trees. The
 * scanner has to agree with it.
 */
final class SlowSse {
    private static final ObjectMapper JSON = new ObjectMapper();

    int events;
    int comments;
    int errors;
    int malformed;
    int firstToken = -1;
    boolean finished;
    boolean done;
    long prompt = -1;
    long completion = -1;
    long cached = -1;

    /** Byte offsets at which no event is open. */
    final List<Integer> boundaries = new ArrayList<>();

    static SlowSse read(byte[] stream) {
        SlowSse s = new SlowSse();
        s.run(stream);
        return s;
    }

    private void run(byte[] b) {
        int p = 0;
        if (b.length >= 3 && b[0] == (byte) 0xef && b[1] == (byte) 0xbb && b[2] == (byte) 0xbf) {
            p = 3;
            boundaries.add(3);
        }
        boundaries.add(0);
        List<String> data = new ArrayList<>();
        String name = "";
        boolean open = false;
        while (true) {
            int e = p;
            while (e < b.length && b[e] != '\n' && b[e] != '\r') {
                e++;
            }
            if (e == b.length) {
                return; // an unterminated line is not a line
            }
            int next = e + 1;
            if (b[e] == '\r') {
                if (!open && e == p) {
                    boundaries.add(next);
                }
                if (next < b.length && b[next] == '\n') {
                    next++;
                }
            }
            String line = new String(b, p, e - p, StandardCharsets.ISO_8859_1);
            if (line.isEmpty()) {
                if (!data.isEmpty()) {
                    dispatch(name, String.join("\n", data));
                }
                data.clear();
                name = "";
                open = false;
                if (b[e] == '\r') {
                    boundaries.add(e + 1);
                }
            } else if (line.startsWith(":")) {
                comments++;
                if (!open && b[e] == '\r') {
                    boundaries.add(e + 1);
                }
            } else {
                open = true;
                int colon = line.indexOf(':');
                String field = colon < 0 ? line : line.substring(0, colon);
                String value = colon < 0 ? "" : line.substring(colon + 1);
                if (value.startsWith(" ")) {
                    value = value.substring(1);
                }
                if (field.equals("data")) {
                    data.add(value);
                } else if (field.equals("event")) {
                    name = value;
                }
            }
            if (!open) {
                boundaries.add(next);
            }
            p = next;
        }
    }

    private void dispatch(String name, String data) {
        int number = events++;
        if (done || !(name.isEmpty() || name.equals("message"))) {
            return;
        }
        if (data.equals("[DONE]")) {
            done = true;
            return;
        }
        JsonNode root;
        try {
            root = JSON.readTree(data.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            malformed++;
            return;
        }
        if (!root.isObject()) {
            malformed++;
            return;
        }
        if (root.hasNonNull("error")) {
            errors++;
            return;
        }
        boolean token =
                output(root.path("text"))
                        || output(root.path("output_ids"))
                        || output(root.path("token_ids"));
        for (JsonNode choice : root.path("choices")) {
            token |= output(choice.path("text")) || output(choice.path("token_ids"));
            finished |= choice.hasNonNull("finish_reason");
            JsonNode delta = choice.has("delta") ? choice.path("delta") : choice.path("message");
            for (String key :
                    List.of(
                            "content",
                            "reasoning",
                            "reasoning_content",
                            "tool_calls",
                            "function_call",
                            "refusal",
                            "token_ids")) {
                token |= output(delta.path(key));
            }
        }
        if (token && firstToken < 0) {
            firstToken = number;
        }
        if (root.path("usage").isObject()) {
            JsonNode usage = root.path("usage");
            prompt = usage.path("prompt_tokens").asLong(-1);
            completion = usage.path("completion_tokens").asLong(-1);
            cached = usage.path("prompt_tokens_details").path("cached_tokens").asLong(-1);
        }
    }

    private static boolean output(JsonNode value) {
        return value.isTextual()
                ? !value.asText().isEmpty()
                : value.isContainerNode() && !value.isEmpty();
    }

    String summary() {
        return summary(
                events,
                comments,
                errors,
                malformed,
                firstToken,
                finished,
                done,
                prompt,
                completion,
                cached);
    }

    static String summary(AnswerScanner s) {
        return summary(
                s.events(),
                s.comments(),
                s.errors(),
                s.malformed(),
                s.firstTokenEvent(),
                s.finished(),
                s.done(),
                s.promptTokens(),
                s.completionTokens(),
                s.cachedTokens());
    }

    private static String summary(Object... values) {
        return String.format(
                "events %s, comments %s, errors %s, malformed %s, first token %s, finished %s, done"
                        + " %s, prompt %s, completion %s, cached %s",
                values);
    }
}
