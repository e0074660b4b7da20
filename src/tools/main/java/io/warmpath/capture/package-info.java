/** Replays a recorded engine through the write path and compares predictions with its reports. */
@org.jspecify.annotations.NullMarked
package io.warmpath.capture;
