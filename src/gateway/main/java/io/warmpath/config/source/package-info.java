/** Where values come from: command line, environment and its aliases, file; checks and help. */
@NullMarked
package io.warmpath.config.source;

import org.jspecify.annotations.NullMarked;
