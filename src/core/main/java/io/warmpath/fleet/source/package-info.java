/** Sources of workers: several of them at once, one worker each per address. */
@NullMarked
package io.warmpath.fleet.source;

import org.jspecify.annotations.NullMarked;
