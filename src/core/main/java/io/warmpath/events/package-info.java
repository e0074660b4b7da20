/** Write path: normalised KV events, per-source order, gap detection, apply. */
@NullMarked
package io.warmpath.events;

import org.jspecify.annotations.NullMarked;
