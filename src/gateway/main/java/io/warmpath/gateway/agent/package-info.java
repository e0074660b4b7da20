/** Turns of sessions: what their engines keep, and what was said before. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.agent;
