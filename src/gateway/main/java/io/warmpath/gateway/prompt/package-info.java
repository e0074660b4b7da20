/** A prompt as token ids, and which worker holds how much of it. */
@NullMarked
package io.warmpath.gateway.prompt;

import org.jspecify.annotations.NullMarked;
