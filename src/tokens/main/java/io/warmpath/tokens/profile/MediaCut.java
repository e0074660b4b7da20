package io.warmpath.tokens.profile;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of a chat's prompt, up to its first medium. What an engine makes of an image
 * depends on the model's processor, but the blocks before it are those of texts alone.
 *
 * <p>A mark takes the first medium's place, all others are left out, and the rendered text is cut
 * at the mark. Where a template looks ahead for media the beginning may be another than the
 * engine's: then it is not found in any cache, and nothing worse. Stateless.
 */
public final class MediaCut {
    /** From a private plane of Unicode: no template changes it, no client means anything by it. */
    private static final String MARK = "\uE0F7medium\uE0F7";

    private MediaCut() {}

    /**
     * @return the chat with the mark; null when there is no medium, or the mark is in it already
     */
    public static @Nullable ChatRequest marked(ChatRequest chat) {
        List<@Nullable Object> messages = new ArrayList<>(chat.messages().size());
        boolean found = false;
        for (Object message : chat.messages()) {
            if (message instanceof Map<?, ?> map && map.get("content") instanceof List<?> parts) {
                List<@Nullable Object> kept = new ArrayList<>(parts.size());
                for (Object part : parts) {
                    if (!isMedium(part)) {
                        kept.add(part);
                    } else if (!found) {
                        found = true;
                        kept.add(mark());
                    }
                }
                messages.add(with(map, kept));
            } else {
                messages.add(message);
            }
        }
        return found
                ? chat.with(messages, chat.addGenerationPrompt(), chat.continueFinalMessage())
                : null;
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

    private static boolean isMedium(@Nullable Object part) {
        return part instanceof Map<?, ?> map
                && map.get("type") instanceof String type
                && Members.isMedia(type);
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
