/**
 * The endpoint picker: requests that a proxy sends to engines, and asks us where to. The same
 * requests as in {@code api.inference}, on another way to their engine.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.picker;
