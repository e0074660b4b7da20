/** The gateway's own API: {@code /router/*}, {@code /tokenize}, {@code /detokenize}. */
@NullMarked
package io.warmpath.api.direct;

import org.jspecify.annotations.NullMarked;
