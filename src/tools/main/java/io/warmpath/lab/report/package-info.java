/** Results as tables, JSON, CSV. */
@NullMarked
package io.warmpath.lab.report;

import org.jspecify.annotations.NullMarked;
