/** What is asked of the fleet: traces, and scenarios that are drawn. */
@org.jspecify.annotations.NullMarked
package io.warmpath.lab.workload;
