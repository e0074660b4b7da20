/** Where values come from: command line, environment and its aliases, file; checks and help. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config.source;
