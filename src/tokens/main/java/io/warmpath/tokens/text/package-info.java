/** Text to token ids: byte-pair encoding, added tokens, segments that are known already. */
@org.jspecify.annotations.NullMarked
package io.warmpath.tokens.text;
