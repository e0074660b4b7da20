/** Rules that choose an engine: ours, those of other routers, and references. */
@org.jspecify.annotations.NullMarked
package io.warmpath.lab.policy;
