/** The page by which operators look at a gateway; its files are resources beside this package. */
@NullMarked
package io.warmpath.api.console;

import org.jspecify.annotations.NullMarked;
