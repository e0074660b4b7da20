/** Workers asked in turn, and what follows from answers and silence. */
@NullMarked
package io.warmpath.fleet.monitor;

import org.jspecify.annotations.NullMarked;
