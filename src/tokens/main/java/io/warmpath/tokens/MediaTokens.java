package io.warmpath.tokens;

import io.warmpath.prefix.MediaIds;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.model.ServedModel;
import io.warmpath.tokens.profile.ChatMedia;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.Medium;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.PromptInput.Conversation;
import io.warmpath.tokens.template.PromptInput.Extent;
import io.warmpath.tokens.text.UnencodableTextException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ids of a chat with media: those of the text with {@link MediaIds} in the place of the media,
 * as long as each is. They end before the first medium whose ids or length are not known; what is
 * missing is learnt from the answer, and from SGLang's events. Stateless.
 */
final class MediaTokens {
    private MediaTokens() {}

    /**
     * @param template of the model
     * @return null: nothing is known of how this engine writes them; the reason is in the extent
     */
    static int @Nullable [] ids(
            ServedModel model,
            ChatTemplate template,
            Conversation chat,
            ChatMedia its,
            EngineProfile engine) {
        Extent extent = chat.extent();
        if (engine == EngineProfile.ANY) {
            extent.beginningOnly(engine, "media on this kind of engine");
            return null;
        }
        List<Medium> media = its.media();
        extent.media(media);
        int[] placeholders = template.placeholders().of(media);
        if (placeholders.length == 0) {
            extent.beginningOnly(engine, "media of a model whose processor is not known");
            return null;
        }
        if (!(template.render(its.inPlace(), engine) instanceof EnginePrompt.Text text)) {
            extent.beginningOnly(engine, "media that the template does not take");
            return null;
        }
        int[] ids;
        try {
            ids = LoadedModel.promptIds(model.tokenizer, text, model.loaded.specialTokens());
        } catch (UnencodableTextException e) {
            extent.beginningOnly(engine, "text that is no Unicode");
            return null;
        }
        int[] places = places(ids, placeholders);
        if (places.length == 0) {
            extent.beginningOnly(engine, "media that the template does not print");
            return null;
        }
        extent.lesson(engine, model.media.lesson(media, ids, places));
        return filled(model, ids, places, media, extent, engine);
    }

    /** Where the placeholders are; empty when they are not one for each medium, in its order. */
    private static int[] places(int[] ids, int[] placeholders) {
        int[] places = new int[placeholders.length];
        int found = 0;
        for (int i = 0; i < ids.length; i++) {
            for (int placeholder : placeholders) {
                if (ids[i] == placeholder) {
                    if (found == places.length || placeholders[found] != placeholder) {
                        return new int[0];
                    }
                    places[found++] = i;
                    break;
                }
            }
        }
        return found == places.length ? places : new int[0];
    }

    private static int[] filled(
            ServedModel model,
            int[] ids,
            int[] places,
            List<Medium> media,
            Extent extent,
            EngineProfile engine) {
        int[] all = new int[ids.length];
        int size = 0;
        int from = 0;
        for (int i = 0; i < places.length; i++) {
            Medium medium = media.get(i);
            int text = places[i] - from;
            int length = model.media.length(medium);
            MediaIds its = its(model, medium, extent, engine);
            all = room(all, size + text + length);
            System.arraycopy(ids, from, all, size, text);
            size += text;
            from = places[i] + 1;
            if (its == null || length == 0) {
                extent.beginningOnly(engine, why(medium, its != null, engine));
                return Arrays.copyOf(all, size);
            }
            its.put(all, size, size, size + length);
            size += length;
        }
        all = room(all, size + ids.length - from);
        System.arraycopy(ids, from, all, size, ids.length - from);
        return Arrays.copyOf(all, size + ids.length - from);
    }

    /** Made of the name that vLLM is told, or seen in SGLang's events; null: not known. */
    private static @Nullable MediaIds its(
            ServedModel model, Medium medium, Extent extent, EngineProfile engine) {
        if (engine == EngineProfile.SGLANG) {
            return model.media.ids(medium);
        }
        String name = extent.tells(medium) ? medium.name() : null;
        return name == null ? null : MediaIds.of(name);
    }

    private static String why(Medium medium, boolean ids, EngineProfile engine) {
        if (ids) {
            return "media of a length not seen yet";
        }
        return engine == EngineProfile.SGLANG && medium.content() != null
                ? "media not seen yet"
                : "media whose name only the engine knows";
    }

    private static int[] room(int[] ids, int size) {
        return size <= ids.length ? ids : Arrays.copyOf(ids, Math.max(size, 2 * ids.length));
    }
}
