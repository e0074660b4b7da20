/**
 * What operators ask a running gateway from a terminal: {@code status}, {@code top}, {@code why},
 * {@code drain}, {@code resume}, {@code ask}. Knows the gateway by its HTTP endpoints alone. Starts
 * are short by what is left out: {@code HttpURLConnection} in place of the newer client, trees of
 * JSON in place of bound records.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.cli;
