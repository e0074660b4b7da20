package io.warmpath.routing;

import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;

/**
 * Taints that a request speaks of: {@code name} with any value, {@code name=value}, or {@code *}
 * for all of them. The effect has no part in it. Immutable. {@code value}: empty: any.
 */
public record TaintMatch(String name, String value) {
    private static final String ALL = "*";

    /** Throws {@link IllegalArgumentException} with a sentence for the client. */
    public static TaintMatch parse(String text) {
        if (text.strip().equals(ALL)) {
            return new TaintMatch(ALL, "");
        }
        Taint taint = Taint.parse(text);
        if (taint.effect() != Taint.Effect.NONE) {
            throw new IllegalArgumentException(
                    "`" + text + "` must be name or name=value, without an effect");
        }
        return new TaintMatch(taint.name(), taint.value());
    }

    boolean covers(Taint taint) {
        return name.equals(ALL)
                || (name.equals(taint.name()) && (value.isEmpty() || value.equals(taint.value())));
    }

    boolean isOn(Worker worker) {
        for (int i = 0; i < worker.taints().size(); i++) {
            if (covers(worker.taints().get(i))) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return value.isEmpty() ? name : name + "=" + value;
    }
}
