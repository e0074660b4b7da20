/** Several gateways' views of the load kept together. JDK only. */
@NullMarked
package io.warmpath.replica;

import org.jspecify.annotations.NullMarked;
