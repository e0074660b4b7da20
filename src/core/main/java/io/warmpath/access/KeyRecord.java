package io.warmpath.access;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A client's key as operators keep it: not the key. {@code expires}: null: never. */
public record KeyRecord(KeyHash hash, Grant grant, @Nullable Instant expires) {}
