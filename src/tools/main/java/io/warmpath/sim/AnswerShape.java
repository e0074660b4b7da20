package io.warmpath.sim;

import org.jspecify.annotations.Nullable;

/**
 * How an engine writes its answers. Implementations are stateless; texts come in unescaped. Checked
 * against answers recorded from the engines: same keys, same order of events.
 */
interface AnswerShape {
    /**
     * What all parts of one answer share.
     *
     * @param promptIds null unless the client asked for token ids
     */
    record Head(
            String id,
            long createdSeconds,
            String model,
            boolean chat,
            int @Nullable [] promptIds) {}

    /** {@code cached}: prompt tokens that came from the cache. */
    record Usage(int prompt, int completion, int cached) {}

    /** Why an answer ended. */
    enum Finish {
        STOP,
        LENGTH;

        String json() {
            return this == STOP ? "\"stop\"" : "\"length\"";
        }
    }

    /** Opens a chat stream; completions have no such event. */
    String role(Head head);

    /**
     * One token's event.
     *
     * @param ending set on the last token
     * @param first the first event of a completion stream carries the prompt's ids
     */
    String token(Head head, String text, int token, Stops.@Nullable Ending ending, boolean first);

    /** Sent after the last token by engines that report the end apart; null when they do not. */
    @Nullable String end(Head head, Stops.Ending ending);

    String usage(Head head, Usage usage);

    /** The whole answer at once. */
    String whole(Head head, String text, int[] tokens, Stops.Ending ending, Usage usage);

    /** Body of a 4xx or 5xx answer. */
    String error(int status, String type, String message, @Nullable String param);

    /** What this engine puts between the text parts of one message. */
    String partJoint();

    /** Prefix of answer ids. */
    String idPrefix(boolean chat);

    /** {@code s} as a JSON string. */
    static String quoted(String s) {
        StringBuilder out = new StringBuilder(s.length() + 2).append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ') {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        return out.append('"').toString();
    }

    /** Everything up to and including the bracket that opens {@code choices}. */
    static String opening(Head head, String object) {
        return "{\"id\":"
                + quoted(head.id())
                + ",\"object\":\""
                + object
                + "\",\"created\":"
                + head.createdSeconds()
                + ",\"model\":"
                + quoted(head.model())
                + ",\"choices\":[";
    }

    /** The members of an error, which engines wrap differently. */
    static String errorMembers(int status, String type, String message, @Nullable String param) {
        return """
                "message":%s,"type":%s,"param":%s,"code":%s"""
                .formatted(
                        quoted(message),
                        quoted(type),
                        param == null ? "null" : quoted(param),
                        status);
    }

    /** Object name of a stream's events. */
    static String chunkObject(Head head) {
        return head.chat() ? "chat.completion.chunk" : "text_completion";
    }
}
