/** Pins: prefixes that clients want to be kept, which rank holds them, and until when. */
@NullMarked
package io.warmpath.session.pin;

import org.jspecify.annotations.NullMarked;
