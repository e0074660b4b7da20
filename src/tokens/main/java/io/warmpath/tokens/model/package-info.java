/** Models: where their files are, loaded once, loaded again when they change. */
@org.jspecify.annotations.NullMarked
package io.warmpath.tokens.model;
