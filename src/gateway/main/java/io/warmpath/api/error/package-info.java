/**
 * Errors as clients learn of them, the ids that name their requests, and what is wrong with a body.
 */
@NullMarked
package io.warmpath.api.error;

import org.jspecify.annotations.NullMarked;
