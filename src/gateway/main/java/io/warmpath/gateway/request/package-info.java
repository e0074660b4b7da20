/**
 * What a client asked for: its body and hints, what the engine has to find in the body otherwise,
 * and the memory that bodies take.
 */
@NullMarked
package io.warmpath.gateway.request;

import org.jspecify.annotations.NullMarked;
