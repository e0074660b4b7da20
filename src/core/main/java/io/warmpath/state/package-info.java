/** What is kept over a restart: files of the index and of where each event source stood. */
@org.jspecify.annotations.NullMarked
package io.warmpath.state;
