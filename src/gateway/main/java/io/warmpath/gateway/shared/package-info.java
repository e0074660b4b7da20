/**
 * Shared pools of engines, as the gateway asks them: which worker is in which, and when to stop
 * waiting.
 */
@NullMarked
package io.warmpath.gateway.shared;

import org.jspecify.annotations.NullMarked;
