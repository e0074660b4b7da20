/** Several gateways' views of the load kept together. JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.replica;
