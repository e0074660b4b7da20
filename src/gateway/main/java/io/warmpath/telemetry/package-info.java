/** Meter names and instrumented decorators around ports. */
@NullMarked
package io.warmpath.telemetry;

import org.jspecify.annotations.NullMarked;
