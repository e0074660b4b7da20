package io.warmpath.admission;

/**
 * Whose request it is, for fairness between those who wait.
 *
 * @param name empty: nobody in particular, together with all others of whom that is said
 * @param weight its part of what there is, against the weights of the others; 1 or more
 */
public record Tenant(String name, int weight) {
    public static final Tenant NOBODY = new Tenant("", 1);

    public Tenant {
        if (weight < 1) {
            throw new IllegalArgumentException("weight " + weight + " is below 1");
        }
    }

    boolean isKnown() {
        return !name.isEmpty();
    }
}
