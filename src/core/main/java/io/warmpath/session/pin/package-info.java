/** Pins: prefixes that clients want to be kept, which rank holds them, and until when. */
@org.jspecify.annotations.NullMarked
package io.warmpath.session.pin;
