/**
 * The part of Jinja that chat templates use, with Python's values and texts: lexer, parser, scopes,
 * evaluator. JDK only; clock and limits are handed in.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.tokens.jinja;
