package io.warmpath.gateway.request;

import org.jspecify.annotations.Nullable;

/** Priorities that operators give names to, for requests that name one. Any thread. */
@FunctionalInterface
public interface Objectives {
    /** No name means anything. */
    Objectives NONE = name -> null;

    /** Returns more important when higher; null: nobody has given this name. */
    @Nullable Integer priority(String name);
}
