/** Requests that belong together: which rank a session's turns go to. */
@NullMarked
package io.warmpath.session;

import org.jspecify.annotations.NullMarked;
