/** Replays a recorded engine through the write path and compares predictions with its reports. */
@NullMarked
package io.warmpath.capture;

import org.jspecify.annotations.NullMarked;
