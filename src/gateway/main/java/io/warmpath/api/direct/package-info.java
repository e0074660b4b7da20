/** The gateway's own API: {@code /router/*}, {@code /tokenize}, {@code /detokenize}. */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.direct;
