/** From a request to a routing decision. */
@NullMarked
package io.warmpath.gateway.plan;

import org.jspecify.annotations.NullMarked;
