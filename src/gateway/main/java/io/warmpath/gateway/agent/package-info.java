/** Turns of sessions: what their engines keep, and what was said before. */
@NullMarked
package io.warmpath.gateway.agent;

import org.jspecify.annotations.NullMarked;
