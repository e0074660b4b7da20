/** Sources of workers: several of them at once, one worker each per address. */
@org.jspecify.annotations.NullMarked
package io.warmpath.fleet.source;
