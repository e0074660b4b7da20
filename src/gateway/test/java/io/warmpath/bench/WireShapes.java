package io.warmpath.bench;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Bodies and streams of the shapes that the load comparison uses (S1: 750 words, S2: 6,000). */
public final class WireShapes {
    private static final String[] WORDS = {
        "the", "cache", "of", "a", "request", "is", "routed", "to", "worker", "that", "prefix",
        "holds", "longest", "tokens", "and", "block", "when", "engine", "evicts"
    };

    private WireShapes() {}

    /** A chat: system prompt, document, turns; 5 kB with 750 words, 43 kB with 6,000. */
    public static byte[] chat(int words, boolean escapes) {
        Random random = new Random(words);
        StringBuilder b = new StringBuilder("{\"model\":\"bench-model\",\"messages\":[");
        message(b, "system", random, words * 4 / 10, escapes);
        message(b.append(','), "user", random, words * 3 / 10, escapes);
        for (int turn = 0; turn < 5; turn++) {
            message(b.append(','), "assistant", random, words / 50, escapes);
            message(b.append(','), "user", random, words / 25, escapes);
        }
        b.append("],\"max_tokens\":32,\"temperature\":0,\"stream\":true,");
        b.append("\"stream_options\":{\"include_usage\":true}}");
        return b.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void message(
            StringBuilder b, String role, Random random, int words, boolean escapes) {
        b.append("{\"role\":\"").append(role).append("\",\"content\":\"");
        for (int i = 0; i < words; i++) {
            b.append(WORDS[random.nextInt(WORDS.length)]);
            b.append(escapes && i % 12 == 11 ? "\\n" : " ");
        }
        b.append("\"}");
    }

    /** One answer as SGLang streams it: a role chunk, the tokens, finish, usage, end. */
    public static byte[] stream(int tokens) {
        String head =
                "data: {\"id\":\"chatcmpl-0000000000000001\",\"object\":\"chat.completion.chunk\","
                        + "\"created\":1795227324,\"model\":\"bench-model\",\"choices\":";
        String delta = head + "[{\"index\":0,\"delta\":{\"role\":null,\"content\":";
        String rest =
                ",\"reasoning_content\":null,\"tool_calls\":null},\"logprobs\":null,"
                        + "\"finish_reason\":%s,\"matched_stop\":null}],\"usage\":null}\n\n";
        StringBuilder b = new StringBuilder();
        b.append(delta.replace("null,", "\"assistant\",")).append("\"\"");
        b.append(String.format(rest, "null"));
        for (int i = 0; i < tokens; i++) {
            b.append(delta).append("\" ").append(WORDS[i % WORDS.length]).append('"');
            b.append(String.format(rest, "null"));
        }
        b.append(delta).append("null").append(String.format(rest, "\"length\""));
        b.append(head).append("[],\"usage\":{\"prompt_tokens\":1030,\"total_tokens\":1062,");
        b.append("\"completion_tokens\":32,\"prompt_tokens_details\":{\"cached_tokens\":768}}}");
        b.append("\n\ndata: [DONE]\n\n");
        return b.toString().getBytes(StandardCharsets.UTF_8);
    }
}
