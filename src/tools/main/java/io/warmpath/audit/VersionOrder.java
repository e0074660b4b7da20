package io.warmpath.audit;

import java.math.BigInteger;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.maven.artifact.versioning.ComparableVersion;

/** Which of two versions is the later one. */
final class VersionOrder {
    /** Maven's own: {@code 1.0.Final} equals {@code 1.0}, and {@code 1.0-rc1} is before both. */
    static final Comparator<String> MAVEN = Comparator.comparing(ComparableVersion::new);

    /** SemVer 2.0.0; where one of the two is none, Maven's. */
    static final Comparator<String> SEMVER = VersionOrder::semver;

    private static final Pattern SEMVER_FORM =
            Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)(?:-([0-9A-Za-z.-]+))?(?:\\+[0-9A-Za-z.-]+)?");

    private VersionOrder() {}

    private static int semver(String one, String other) {
        Matcher a = SEMVER_FORM.matcher(one);
        Matcher b = SEMVER_FORM.matcher(other);
        if (!a.matches() || !b.matches()) {
            return MAVEN.compare(one, other);
        }
        for (int part = 1; part <= 3; part++) {
            int order = new BigInteger(a.group(part)).compareTo(new BigInteger(b.group(part)));
            if (order != 0) {
                return order;
            }
        }
        String early = a.group(4);
        String late = b.group(4);
        if (early == null || late == null) {
            return Boolean.compare(early == null, late == null); // a release is after them
        }
        String[] x = early.split("\\.", -1);
        String[] y = late.split("\\.", -1);
        for (int i = 0; i < Math.min(x.length, y.length); i++) {
            int order = identifiers(x[i], y[i]);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(x.length, y.length);
    }

    private static int identifiers(String one, String other) {
        boolean number = one.matches("\\d+");
        if (number != other.matches("\\d+")) {
            return number ? -1 : 1;
        }
        return number ? new BigInteger(one).compareTo(new BigInteger(other)) : one.compareTo(other);
    }
}
