package io.warmpath.tokens.profile;

import io.warmpath.tokens.jinja.HuggingFaceChat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whether a template cannot tell two inputs apart: equal, with the members of every object in the
 * same order, because a template can print it. Stateless; one pass.
 */
final class SameTrees {
    private SameTrees() {}

    static boolean same(TemplateInput one, TemplateInput other) {
        return one.continued().equals(other.continued())
                && same(one.chat(), other.chat())
                && sameTree(one.bareTools(), other.bareTools());
    }

    private static boolean same(HuggingFaceChat one, HuggingFaceChat other) {
        return one.addGenerationPrompt() == other.addGenerationPrompt()
                && one.continueFinalMessage() == other.continueFinalMessage()
                && sameTree(one.messages(), other.messages())
                && sameTree(one.tools(), other.tools())
                && sameTree(one.documents(), other.documents())
                && sameTree(one.arguments(), other.arguments());
    }

    static boolean sameTree(@Nullable Object one, @Nullable Object other) {
        if (one instanceof List<?> a && other instanceof List<?> b) {
            return a.size() == b.size() && sameItems(a.iterator(), b.iterator());
        }
        if (one instanceof Map<?, ?> a && other instanceof Map<?, ?> b) {
            return a.size() == b.size()
                    && sameMembers(a.entrySet().iterator(), b.entrySet().iterator());
        }
        return Objects.equals(one, other);
    }

    private static boolean sameItems(Iterator<?> a, Iterator<?> b) {
        while (a.hasNext()) {
            if (!sameTree(a.next(), b.next())) {
                return false;
            }
        }
        return true;
    }

    private static boolean sameMembers(
            Iterator<? extends Map.Entry<?, ?>> a, Iterator<? extends Map.Entry<?, ?>> b) {
        while (a.hasNext()) {
            Map.Entry<?, ?> x = a.next();
            Map.Entry<?, ?> y = b.next();
            if (!x.getKey().equals(y.getKey()) || !sameTree(x.getValue(), y.getValue())) {
                return false;
            }
        }
        return true;
    }
}
