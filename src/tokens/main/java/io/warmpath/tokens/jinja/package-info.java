/**
 * The part of Jinja that chat templates use, with Python's values and texts: lexer, parser, scopes,
 * evaluator. JDK only; clock and limits are handed in.
 */
@NullMarked
package io.warmpath.tokens.jinja;

import org.jspecify.annotations.NullMarked;
