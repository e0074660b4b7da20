/** How the process' memory is shared out, and what happens where it ends. */
@NullMarked
package io.warmpath.wiring.memory;

import org.jspecify.annotations.NullMarked;
