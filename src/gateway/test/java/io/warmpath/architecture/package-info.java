/**
 * Rules of src/docs/explanation/architecture.md as tests. Each rule has a control that must trip
 * it.
 */
@NullMarked
package io.warmpath.architecture;

import org.jspecify.annotations.NullMarked;
