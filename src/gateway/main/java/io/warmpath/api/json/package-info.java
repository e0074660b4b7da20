/** JSON and event streams in bytes: read, stepped over, compared and written. Knows no API. */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.json;
