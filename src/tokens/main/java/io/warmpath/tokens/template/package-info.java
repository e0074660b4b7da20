/** Chat to text: templates, and what a continuation adds. */
@NullMarked
package io.warmpath.tokens.template;

import org.jspecify.annotations.NullMarked;
