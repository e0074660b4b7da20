/** Results as tables, JSON, CSV. */
@org.jspecify.annotations.NullMarked
package io.warmpath.lab.report;
