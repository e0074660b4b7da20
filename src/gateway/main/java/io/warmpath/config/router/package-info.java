/** Keys of routing: mode, cost, admission, hits in the shared cache. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config.router;
