/** Plots as SVG, for pages that need nothing else. */
@NullMarked
package io.warmpath.plot;

import org.jspecify.annotations.NullMarked;
