/** The fleet at work: its loop, its sources of workers, its log, reload of its configuration. */
@NullMarked
package io.warmpath.wiring.fleet;

import org.jspecify.annotations.NullMarked;
