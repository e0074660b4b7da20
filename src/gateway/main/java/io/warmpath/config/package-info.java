/** Typed configuration and its validation, no logic. */
@NullMarked
package io.warmpath.config;

import org.jspecify.annotations.NullMarked;
