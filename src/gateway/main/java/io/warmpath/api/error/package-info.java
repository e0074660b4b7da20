/**
 * Errors as clients learn of them, the ids that name their requests, and what is wrong with a body.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.error;
