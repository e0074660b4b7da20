/** Requests that belong together: which rank a session's turns go to. */
@org.jspecify.annotations.NullMarked
package io.warmpath.session;
