package io.warmpath.tokens.profile;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The media of a chat, in the order of its parts. Immutable.
 *
 * <p>Where what an engine makes of them is known they are rendered {@link #inPlace}. Else the
 * beginning counts, up to the first of them: a mark takes its place, all others are left out, and
 * the rendered text is cut at the mark. Where a template looks ahead for media the beginning may be
 * another than the engine's: then it is not found in any cache, and nothing worse.
 *
 * @param media at least one
 */
public record ChatMedia(ChatRequest chat, List<Medium> media) {
    /** From a private plane of Unicode: no template changes it, no client means anything by it. */
    private static final String MARK = "\uE0F7medium\uE0F7";

    /** What is rendered as an engine renders it. JSON has no such value. */
    record Part(String kind) {}

    public ChatMedia {
        media = List.copyOf(media);
    }

    /**
     * @return null when there is no medium
     */
    public static @Nullable ChatMedia of(ChatRequest chat) {
        List<Medium> media = new ArrayList<>();
        replaced(
                chat,
                part -> {
                    media.add(Medium.of(part));
                    return part;
                });
        return media.isEmpty() ? null : new ChatMedia(chat, media);
    }

    /** Whether a content part of this type is a medium. */
    public static boolean isMedium(String type) {
        return Members.isMedia(type);
    }

    /** The chat as a template gets it from an engine. */
    public ChatRequest inPlace() {
        return replaced(chat, part -> new Part(Medium.kind(String.valueOf(part.get("type")))));
    }

    /** The chat with the mark. */
    public ChatRequest marked() {
        boolean[] found = new boolean[1];
        return replaced(
                chat,
                part -> {
                    boolean first = !found[0];
                    found[0] = true;
                    return first ? mark() : null;
                });
    }

    /**
     * What stands before the mark.
     *
     * @return null when the template does not print it
     */
    public static EnginePrompt.@Nullable Text beginning(EnginePrompt marked) {
        if (!(marked instanceof EnginePrompt.Text text)) {
            return null;
        }
        int at = text.rendered().indexOf(MARK);
        return at <= 0 ? null : new EnginePrompt.Text(text.rendered().substring(0, at));
    }

    /** What becomes of a part; null: it is left out. */
    private interface Change {
        @Nullable Object of(Map<?, ?> medium);
    }

    private static ChatRequest replaced(ChatRequest chat, Change change) {
        List<@Nullable Object> messages = new ArrayList<>(chat.messages().size());
        for (Object message : chat.messages()) {
            if (message instanceof Map<?, ?> map && map.get("content") instanceof List<?> parts) {
                List<@Nullable Object> kept = new ArrayList<>(parts.size());
                for (Object part : parts) {
                    Object now =
                            part instanceof Map<?, ?> medium
                                            && medium.get("type") instanceof String type
                                            && isMedium(type)
                                    ? change.of(medium)
                                    : part;
                    if (now != null) {
                        kept.add(now);
                    }
                }
                messages.add(with(map, kept));
            } else {
                messages.add(message);
            }
        }
        return chat.with(messages, chat.addGenerationPrompt(), chat.continueFinalMessage());
    }

    private static Map<String, Object> mark() {
        Map<String, Object> mark = new LinkedHashMap<>(4);
        mark.put("type", "text");
        mark.put("text", MARK);
        return mark;
    }

    private static Map<String, @Nullable Object> with(Map<?, ?> message, List<?> content) {
        Map<String, @Nullable Object> changed = new LinkedHashMap<>();
        message.forEach((name, value) -> changed.put(String.valueOf(name), value));
        changed.put("content", content);
        return changed;
    }
}
