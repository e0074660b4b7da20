/** The fleet at work: its loop, its sources of workers, its log, reload of its configuration. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.fleet;
