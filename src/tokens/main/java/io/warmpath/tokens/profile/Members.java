package io.warmpath.tokens.profile;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads members of parsed JSON; what has another type is what an engine refuses. */
final class Members {
    private Members() {}

    static Map<?, ?> object(String path, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw NotRendered.invalid(path, "must be an object.");
    }

    static List<?> list(String path, @Nullable Object value) {
        if (value instanceof List<?> list) {
            return list;
        }
        throw NotRendered.invalid(path, "must be an array.");
    }

    static String text(String path, @Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw NotRendered.invalid(path, "must be a string.");
    }

    static @Nullable String textOrNull(String path, @Nullable Object value) {
        return value == null ? null : text(path, value);
    }

    /** Images, sound and the like: what they become depends on the model's processor. */
    static boolean isMedia(String type) {
        return switch (type) {
            case "image_url",
                    "input_image",
                    "image_embeds",
                    "image_pil",
                    "image",
                    "audio_url",
                    "input_audio",
                    "audio_embeds",
                    "audio",
                    "video_url",
                    "video",
                    "prompt_embeds",
                    "tool_reference" ->
                    true;
            default -> false;
        };
    }

    /** Arguments that change what is tokenised, or are the renderer's own. */
    static void refuseRendererArguments(Map<String, ? extends @Nullable Object> arguments) {
        for (String name : arguments.keySet()) {
            switch (name) {
                case "padding",
                        "truncation",
                        "max_length",
                        "return_tensors",
                        "return_assistant_tokens_mask",
                        "tokenizer_kwargs" ->
                        throw NotRendered.unpredictable("chat_template_kwargs." + name);
                case "messages", "conversation", "tools" ->
                        throw NotRendered.invalid(
                                "chat_template_kwargs." + name,
                                "is the engine's own; give it in the request itself.");
                default -> {}
            }
        }
    }
}
