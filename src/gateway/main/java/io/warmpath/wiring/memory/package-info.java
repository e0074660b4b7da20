/** How the process' memory is shared out, and what happens where it ends. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.memory;
