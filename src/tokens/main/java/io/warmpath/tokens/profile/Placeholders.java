package io.warmpath.tokens.profile;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * The token that a template prints for a medium, of models for which vLLM (0.32) repeats just that
 * token as often as the medium has tokens. Others put further tokens between (rows, tiles,
 * timestamps): of theirs nothing is here. Immutable.
 *
 * @param ids by kind of medium: {@code image}, {@code video}, {@code audio}
 */
public record Placeholders(Map<String, Integer> ids) {
    public static final Placeholders NONE = new Placeholders(Map.of());

    public Placeholders {
        ids = Map.copyOf(ids);
    }

    /**
     * @param architectures of config.json
     * @param vision its kind of vision encoder
     * @param member a number of config.json; below 0: it is not there
     */
    public static Placeholders of(
            List<String> architectures, String vision, ToIntFunction<String> member) {
        Map<String, Integer> ids = new HashMap<>();
        for (String architecture : architectures) {
            switch (architecture) {
                case "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration" -> {
                    put(ids, "image", member, "image_token_id");
                    put(ids, "video", member, "video_token_id");
                }
                case "Qwen3VLForConditionalGeneration",
                        "Qwen3VLMoeForConditionalGeneration",
                        "Qwen3_5ForConditionalGeneration",
                        "Qwen3_5MoeForConditionalGeneration",
                        "Glm4vForConditionalGeneration",
                        "Glm4vMoeForConditionalGeneration" ->
                        put(ids, "image", member, "image_token_id");
                case "LlavaForConditionalGeneration" -> {
                    if (!vision.equals("pixtral")) { // that one ends each row
                        put(ids, "image", member, "image_token_index", "image_token_id");
                    }
                }
                case "LlavaNextForConditionalGeneration" ->
                        put(ids, "image", member, "image_token_index", "image_token_id");
                case "LlavaOnevisionForConditionalGeneration" -> {
                    put(ids, "image", member, "image_token_index", "image_token_id");
                    put(ids, "video", member, "video_token_index", "video_token_id");
                }
                case "KimiVLForConditionalGeneration" ->
                        put(ids, "image", member, "media_placeholder_token_id");
                case "Qwen2AudioForConditionalGeneration" ->
                        put(ids, "audio", member, "audio_token_index", "audio_token_id");
                default -> {}
            }
        }
        return ids.isEmpty() ? NONE : new Placeholders(ids);
    }

    private static void put(
            Map<String, Integer> ids, String kind, ToIntFunction<String> member, String... names) {
        for (String name : names) {
            int id = member.applyAsInt(name);
            if (id >= 0) {
                ids.putIfAbsent(kind, id);
            }
        }
    }

    /** One for each of these; empty where one has none. */
    public int[] of(List<Medium> media) {
        int[] all = new int[media.size()];
        for (int i = 0; i < all.length; i++) {
            Integer id = ids.get(media.get(i).kind());
            if (id == null) {
                return new int[0];
            }
            all[i] = id;
        }
        return all;
    }
}
