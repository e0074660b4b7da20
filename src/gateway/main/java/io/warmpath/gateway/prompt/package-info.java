/** A prompt as token ids, and which worker holds how much of it. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.prompt;
