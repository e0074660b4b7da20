/** Questions to workers over the JDK's HTTP client. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.enginehttp;
