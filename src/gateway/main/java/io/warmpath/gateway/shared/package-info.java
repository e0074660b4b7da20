/**
 * Shared pools of engines, as the gateway asks them: which worker is in which, and when to stop
 * waiting.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.shared;
