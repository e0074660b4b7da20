/**
 * What a client asked for: its body and hints, what the engine has to find in the body otherwise,
 * and the memory that bodies take.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.request;
