/** Keys of routing: mode, cost, admission, hits in the shared cache. */
@NullMarked
package io.warmpath.config.router;

import org.jspecify.annotations.NullMarked;
