package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.tokens.text.BpeParts;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A {@code tokenizer.json} as parts of a byte-level byte-pair tokenizer, when every setting in it
 * is known. What is not known is refused, never skipped: a setting that is overlooked gives other
 * ids than the engine's. Settings that do not change ids (truncation, padding, which engines switch
 * off) are not looked at; another decoder than the usual one leaves the way back shut.
 */
final class ByteLevelBpe {
    private static final Set<String> FIELDS =
            Set.of(
                    ("version truncation padding added_tokens normalizer pre_tokenizer"
                                    + " post_processor decoder model")
                            .split(" ", -1));

    private final BpeParts parts = new BpeParts();

    private ByteLevelBpe() {}

    /**
     * @param head everything but the model
     * @throws NotUnderstoodException naming the first setting that is not known
     */
    static BpeParts read(JsonNode head, BpeModel model) throws NotUnderstoodException {
        ByteLevelBpe bpe = new ByteLevelBpe();
        Set<String> unknown = new HashSet<>();
        head.fieldNames().forEachRemaining(unknown::add);
        unknown.removeAll(FIELDS);
        if (!unknown.isEmpty()) {
            throw new NotUnderstoodException("setting " + String.join(", ", unknown));
        }
        bpe.normalizer(head.path("normalizer"));
        for (BpeParts.Pattern step : KnownPatterns.of(head.path("pre_tokenizer"))) {
            bpe.parts.addStep(step);
        }
        bpe.postProcessor(head.path("post_processor"));
        Set<String> added = new HashSet<>();
        head.path("added_tokens").forEach(token -> added.add(token.path("content").asText()));
        model.addTo(bpe.parts, added);
        bpe.addedTokens(head.path("added_tokens"), model.vocabulary());
        if (!head.path("decoder").path("type").asText().equals("ByteLevel")) {
            bpe.parts.notReversible();
        }
        return bpe.parts;
    }

    private void normalizer(JsonNode step) throws NotUnderstoodException {
        if (step.isMissingNode() || step.isNull()) {
            return;
        }
        String type = KnownPatterns.type(step);
        switch (type) {
            case "NFC" -> parts.normalizeToNfc();
            case "Sequence" -> {
                for (JsonNode child : step.path("normalizers")) {
                    normalizer(child);
                }
            }
            default -> throw new NotUnderstoodException("normalizer " + type);
        }
    }

    private void postProcessor(JsonNode step) throws NotUnderstoodException {
        List<JsonNode> templates = new ArrayList<>();
        collectTemplates(step, templates);
        if (templates.size() > 1) {
            throw new NotUnderstoodException("more than one TemplateProcessing");
        }
        for (JsonNode template : templates) {
            surround(template);
        }
    }

    private static void collectTemplates(JsonNode step, List<JsonNode> into)
            throws NotUnderstoodException {
        if (step.isMissingNode() || step.isNull()) {
            return;
        }
        String type = KnownPatterns.type(step);
        switch (type) {
            case "ByteLevel" -> {} // offsets only
            case "TemplateProcessing" -> into.add(step);
            case "Sequence" -> {
                for (JsonNode child : step.path("processors")) {
                    collectTemplates(child, into);
                }
            }
            default -> throw new NotUnderstoodException("post-processor " + type);
        }
    }

    private void surround(JsonNode template) throws NotUnderstoodException {
        List<Integer> before = new ArrayList<>();
        List<Integer> behind = new ArrayList<>();
        boolean seen = false;
        for (JsonNode part : template.path("single")) {
            if (part.has("Sequence")) {
                if (seen || !part.path("Sequence").path("id").asText().equals("A")) {
                    throw new NotUnderstoodException("TemplateProcessing of another form");
                }
                seen = true;
                continue;
            }
            String name = part.path("SpecialToken").path("id").asText();
            JsonNode ids = template.path("special_tokens").path(name).path("ids");
            if (ids.isEmpty()) {
                throw new NotUnderstoodException("TemplateProcessing without ids of " + name);
            }
            List<Integer> side = seen ? behind : before;
            ids.forEach(id -> side.add(id.asInt()));
        }
        if (!seen) {
            throw new NotUnderstoodException("TemplateProcessing without the text");
        }
        parts.surround(ints(before), ints(behind));
    }

    private static int[] ints(List<Integer> ids) {
        return ids.stream().mapToInt(Integer::intValue).toArray();
    }

    /**
     * The library numbers added tokens itself: one that the vocabulary has keeps that id, another
     * gets the next one. A file whose numbers disagree is left to the library.
     */
    private void addedTokens(JsonNode tokens, Map<String, Integer> vocabulary)
            throws NotUnderstoodException {
        int next = vocabulary.size();
        int highest = -1;
        for (JsonNode token : tokens) {
            String content = token.path("content").asText();
            if (token.path("single_word").asBoolean()) {
                throw new NotUnderstoodException("single_word of the added token " + content);
            }
            Integer known = vocabulary.get(content);
            int id = known != null ? known : Math.max(next, highest + 1);
            highest = Math.max(highest, id);
            if (id != token.path("id").asInt(-1) || content.isEmpty()) {
                throw new NotUnderstoodException("id of the added token " + content);
            }
            if (BpeModel.readsOtherwise(content)) {
                parts.notReversible();
            }
            parts.addAdded(
                    new BpeParts.Added(
                            id,
                            content,
                            token.path("special").asBoolean(),
                            token.path("normalized").asBoolean(),
                            token.path("lstrip").asBoolean(),
                            token.path("rstrip").asBoolean()));
        }
    }
}
