/** Chat to text: templates, and what a continuation adds. */
@org.jspecify.annotations.NullMarked
package io.warmpath.tokens.template;
