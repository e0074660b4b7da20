/** The page by which operators look at a gateway; its files are resources beside this package. */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.console;
