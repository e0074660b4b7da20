/** JSON and event streams in bytes: read, stepped over, compared and written. Knows no API. */
@NullMarked
package io.warmpath.api.json;

import org.jspecify.annotations.NullMarked;
