/** Rules that choose an engine: ours, those of other routers, and references. */
@NullMarked
package io.warmpath.lab.policy;

import org.jspecify.annotations.NullMarked;
