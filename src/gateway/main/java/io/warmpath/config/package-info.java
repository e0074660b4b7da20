/** Typed configuration and its validation, no logic. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config;
