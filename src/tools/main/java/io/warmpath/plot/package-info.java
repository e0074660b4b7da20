/** Plots as SVG, for pages that need nothing else. */
@org.jspecify.annotations.NullMarked
package io.warmpath.plot;
