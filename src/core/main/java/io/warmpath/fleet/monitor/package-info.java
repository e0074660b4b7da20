/** Workers asked in turn, and what follows from answers and silence. */
@org.jspecify.annotations.NullMarked
package io.warmpath.fleet.monitor;
