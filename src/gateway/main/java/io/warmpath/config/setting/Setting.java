package io.warmpath.config.setting;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * All that is said about one configuration key besides its type and default. Flags, environment
 * aliases, range checks, {@code serve --help} and the configuration reference are all made from
 * this.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Setting {
    /** What it does, for operators: one or two sentences, ends with a full stop. */
    String doc();

    /**
     * Of a key without a default: what holds when nobody sets it, as the default is written. For
     * keys where it matters whether they are set.
     */
    String unset() default "";

    /** Unit or form of the value, such as {@code blocks}; empty when the type says it. */
    String unit() default "";

    /** Command line flags of {@code serve}; the first one is shown first. */
    String[] flags() default {};

    /** Flags without a value that set a boolean key to false. */
    String[] offFlags() default {};

    /**
     * Environment names besides {@code WARMPATH_...}; {@code NAME:M} appends the unit M to a bare
     * number.
     */
    String[] env() default {};

    /** Smallest and largest number allowed. */
    double min() default Double.NEGATIVE_INFINITY;

    double max() default Double.POSITIVE_INFINITY;

    /** Shortest and longest duration allowed, such as {@code 10ms}; empty: no bound. */
    String minTime() default "0ms";

    String maxTime() default "";

    /** Smallest and largest size in bytes allowed, such as {@code 1K}; empty: no bound. */
    String minSize() default "";

    String maxSize() default "";

    /** Never printed. */
    boolean secret() default false;
}
