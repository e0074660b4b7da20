package io.warmpath.tokens.profile;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One image, sound or video of a chat.
 *
 * @param kind {@code image}, {@code audio}, {@code video}; empty for what has no tokens of a kind
 * @param name that an engine knows it by once it is told so; null where only an engine can tell
 *     what is there: behind an address, today's content may be another than yesterday's
 * @param given the client has said the name itself ({@code uuid})
 * @param look what the number of its tokens depends on, as far as that can be seen: {@code image
 *     640x480}; null: it cannot
 * @param content what is there, with the options that stand beside it; null where it lies elsewhere
 */
public record Medium(
        String kind,
        @Nullable String name,
        boolean given,
        @Nullable String look,
        @Nullable String content) {
    static Medium of(Map<?, ?> part) {
        String type = String.valueOf(part.get("type"));
        String kind = kind(type);
        String data = kind.isEmpty() ? null : data(part, type);
        String look = kind.equals("image") && data != null ? ImageSize.of(data) : null;
        String hash = data == null ? null : hash(data);
        String content = hash == null ? null : hash + options(part, type);
        if (part.containsKey("uuid")) {
            String name = part.get("uuid") instanceof String text ? text : null;
            return new Medium(kind, name, true, look, content);
        }
        return new Medium(kind, hash, false, look, content);
    }

    /** Such as {@code detail}: engines may make other pixels of the same file by them. */
    private static String options(Map<?, ?> part, String type) {
        Map<Object, Object> more = new LinkedHashMap<>(part);
        more.keySet().removeAll(List.of("type", "uuid"));
        Object value = more.remove(type.equals("input_image") ? "image_url" : type);
        if (value instanceof Map<?, ?> map) {
            map.forEach(more::putIfAbsent);
        }
        more.keySet().removeAll(List.of("url", "data", "format"));
        more.remove("detail", "auto");
        return more.isEmpty() ? "" : more.toString();
    }

    static String kind(String type) {
        return switch (type) {
            case "image_url", "input_image" -> "image";
            case "audio_url", "input_audio" -> "audio";
            case "video_url" -> "video";
            default -> "";
        };
    }

    /** The medium itself; null where it lies elsewhere. */
    private static @Nullable String data(Map<?, ?> part, String type) {
        if (type.equals("input_audio")) {
            return part.get("input_audio") instanceof Map<?, ?> sound
                            && sound.get("data") instanceof String data
                    ? "data:" + sound.get("format") + ";base64," + data
                    : null;
        }
        Object value = part.get(type.equals("input_image") ? "image_url" : type);
        Object url = value instanceof Map<?, ?> map ? map.get("url") : value;
        return url instanceof String text && text.startsWith("data:") ? text : null;
    }

    private static String hash(String data) {
        try {
            return HexFormat.of()
                    .formatHex(
                            MessageDigest.getInstance("SHA-256")
                                    .digest(data.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
