/** Write path: normalised KV events, per-source order, gap detection, apply. */
@org.jspecify.annotations.NullMarked
package io.warmpath.events;
