/** What is asked of the fleet: traces, and scenarios that are drawn. */
@NullMarked
package io.warmpath.lab.workload;

import org.jspecify.annotations.NullMarked;
