/** Text to token ids: byte-pair encoding, added tokens, segments that are known already. */
@NullMarked
package io.warmpath.tokens.text;

import org.jspecify.annotations.NullMarked;
