package io.warmpath.api.request;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where requests to engines are posted.
 *
 * @param path as clients write it, in ASCII
 * @param endpoint how the body is read
 */
public record InferencePath(String path, RequestParser.Endpoint endpoint) {
    public static final InferencePath CHAT =
            new InferencePath("/v1/chat/completions", RequestParser.Endpoint.CHAT);

    /** All of them, the most frequent one first. */
    public static final List<InferencePath> ALL =
            Stream.of(
                            Stream.of(
                                    CHAT,
                                    new InferencePath(
                                            "/v1/completions", RequestParser.Endpoint.COMPLETIONS),
                                    new InferencePath(
                                            "/v1/responses", RequestParser.Endpoint.RESPONSES),
                                    new InferencePath(
                                            "/v1/embeddings", RequestParser.Endpoint.EMBEDDINGS)),
                            // Prompts are computed, and nothing is generated.
                            all(
                                    RequestParser.Endpoint.SCORES,
                                    "/v1/rerank",
                                    "/v2/rerank",
                                    "/rerank",
                                    "/v1/score",
                                    "/score",
                                    "/v1/classify",
                                    "/classify",
                                    "/pooling",
                                    "/v1/moderations"),
                            // These need nothing but a worker that serves the model.
                            all(
                                    RequestParser.Endpoint.OTHER,
                                    "/v1/audio/transcriptions",
                                    "/v1/audio/translations",
                                    "/v1/audio/speech",
                                    "/v1/images/generations",
                                    "/v1/images/edits",
                                    "/v1/images/variations"))
                    .flatMap(paths -> paths)
                    .toList();

    private static final InferencePath[] TABLE = ALL.toArray(InferencePath[]::new);
    private static final byte[][] BYTES =
            ALL.stream()
                    .map(p -> p.path.getBytes(StandardCharsets.US_ASCII))
                    .toArray(byte[][]::new);

    private static Stream<InferencePath> all(RequestParser.Endpoint endpoint, String... paths) {
        return Stream.of(paths).map(path -> new InferencePath(path, endpoint));
    }

    /**
     * Of a request that has been routed to one of them.
     *
     * @param path may have a slash behind it
     * @throws IllegalArgumentException it is none of them
     */
    public static InferencePath of(String path) {
        InferencePath known = find(path);
        if (known == null) {
            throw new IllegalArgumentException("no path of an engine: " + path);
        }
        return known;
    }

    /** As {@link #of}; null: it is none of them. */
    public static @Nullable InferencePath find(String path) {
        int length = path.length() - (path.endsWith("/") ? 1 : 0);
        for (InferencePath known : TABLE) {
            if (known.path.length() == length && path.startsWith(known.path)) {
                return known;
            }
        }
        return null;
    }

    /**
     * What an engine is asked for: the path as it stands here, never as a client wrote it.
     *
     * @param query of the client's request; null: none
     */
    public String target(@Nullable String query) {
        return query == null ? path : path + "?" + query;
    }

    /**
     * The one that is written at {@code from}, with a blank behind it and nothing between.
     *
     * @param end of the bytes that may be looked at
     */
    public static @Nullable InferencePath at(byte[] b, int from, int end) {
        for (int i = 0; i < BYTES.length; i++) {
            if (isAt(BYTES[i], b, from, end)) {
                return TABLE[i];
            }
        }
        return null;
    }

    private static boolean isAt(byte[] path, byte[] b, int from, int end) {
        int blank = from + path.length;
        if (blank >= end || b[blank] != ' ') {
            return false;
        }
        for (int i = 0; i < path.length; i++) {
            if (b[from + i] != path[i]) {
                return false;
            }
        }
        return true;
    }
}
