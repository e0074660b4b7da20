/** The use case: owns the order of the steps of one request. */
@NullMarked
package io.warmpath.gateway;

import org.jspecify.annotations.NullMarked;
