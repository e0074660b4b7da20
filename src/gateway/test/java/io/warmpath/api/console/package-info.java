@NullMarked
package io.warmpath.api.console;

import org.jspecify.annotations.NullMarked;
