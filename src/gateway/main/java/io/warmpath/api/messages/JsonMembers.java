package io.warmpath.api.messages;

import static io.warmpath.api.error.InvalidRequest.bad;

import io.warmpath.fault.GatewayException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An object of a request with its place in it. A member that is not there, or null, is null; one of
 * another kind is refused with its path. {@code at}: its path; empty for the body itself.
 */
record JsonMembers(String at, Map<String, @Nullable Object> all) {
    String path(String name) {
        return at.isEmpty() ? name : at + "." + name;
    }

    /**
     * @throws GatewayException BadRequest; so do all others
     */
    @Nullable String text(String name) {
        Object value = all.get(name);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw wrong(name, "a string");
    }

    String requiredText(String name) {
        String text = text(name);
        if (text == null) {
            throw bad(path(name), "`" + path(name) + "` is missing.");
        }
        return text;
    }

    @Nullable Boolean flag(String name) {
        Object value = all.get(name);
        if (value == null || value instanceof Boolean) {
            return (Boolean) value;
        }
        throw wrong(name, "true or false");
    }

    @Nullable Long whole(String name) {
        return switch (all.get(name)) {
            case null -> null;
            case Integer number -> number.longValue();
            case Long number -> number;
            default -> throw wrong(name, "an integer");
        };
    }

    /** Empty when it is not there. */
    @SuppressWarnings("unchecked") // JsonTree makes no other
    List<@Nullable Object> list(String name) {
        Object value = all.get(name);
        if (value == null) {
            return List.of();
        }
        if (value instanceof List<?> list) {
            return (List<@Nullable Object>) list;
        }
        throw wrong(name, "an array");
    }

    /** A list of objects; empty when it is not there. */
    List<JsonMembers> objects(String name) {
        List<@Nullable Object> list = list(name);
        List<JsonMembers> objects = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            objects.add(of(path(name) + "[" + i + "]", list.get(i)));
        }
        return objects;
    }

    @Nullable JsonMembers object(String name) {
        Object value = all.get(name);
        return value == null ? null : of(path(name), value);
    }

    JsonMembers required(String name) {
        JsonMembers object = object(name);
        if (object == null) {
            throw bad(path(name), "`" + path(name) + "` is missing.");
        }
        return object;
    }

    @SuppressWarnings("unchecked") // JsonTree makes no other
    private static JsonMembers of(String path, @Nullable Object value) {
        if (value instanceof Map<?, ?> members) {
            return new JsonMembers(path, (Map<String, @Nullable Object>) members);
        }
        throw bad(path, "`" + path + "` must be an object.");
    }

    private GatewayException wrong(String name, String kind) {
        return bad(path(name), "`" + path(name) + "` must be " + kind + ".");
    }
}
