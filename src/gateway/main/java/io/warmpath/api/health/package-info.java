/**
 * What {@code /q/health} tells of the things that a gateway depends on. Their loss degrades routing
 * and fails no request, so it is data of a check that stays UP.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.health;
