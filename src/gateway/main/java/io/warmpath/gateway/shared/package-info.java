/**
 * Pools that engines share, as the gateway asks them: who is in which, and when to stop waiting.
 */
@NullMarked
package io.warmpath.gateway.shared;

import org.jspecify.annotations.NullMarked;
