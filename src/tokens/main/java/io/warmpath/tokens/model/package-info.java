/** Models: where their files are, loaded once, loaded again when they change. */
@NullMarked
package io.warmpath.tokens.model;

import org.jspecify.annotations.NullMarked;
