/** Meter names and instrumented decorators around ports. */
@org.jspecify.annotations.NullMarked
package io.warmpath.telemetry;
