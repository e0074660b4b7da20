/** What is kept over a restart: files of the index and of where each event source stood. */
@NullMarked
package io.warmpath.state;

import org.jspecify.annotations.NullMarked;
