package io.warmpath.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VersionRangeTest {
    private static VersionRange range(String type, String events) throws AuditException {
        String json = "{'type':'" + type + "','events':[" + events + "]}";
        byte[] bytes = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        return new VersionRange("X-1", JsonFile.parse("X-1", bytes));
    }

    /** Each version is before the next in its row, but for those joined by =. */
    @ParameterizedTest
    @CsvSource({
        "1.0-alpha1, 1.0-beta1, 1.0-M1, 1.0-rc1=1.0.CR1, 1.0-SNAPSHOT, 1.0=1.0.Final=1.0.0=1.0.GA, 1.0-sp1, 1.0.1",
        "4.1.99.Final, 4.1.100.Final, 4.1.136.Final, 4.2.0.Alpha1, 4.2.0.RC1, 4.2.0.Final, 4.10.0.Final",
        "31.0-rc1, 31.0, 31.0-jre, 31.1",
        "2.9.10.8, 2.10.0, 2.22, 2.22.1",
        "20230227, 20231013, 20240303"
    })
    void maven_orders_versions(
            @org.junit.jupiter.params.aggregator.AggregateWith(Row.class) String[] row) {
        for (int i = 0; i < row.length; i++) {
            for (int j = 0; j < row.length; j++) {
                for (String a : row[i].split("=", -1)) {
                    for (String b : row[j].split("=", -1)) {
                        assertEquals(
                                Integer.compare(i, j),
                                Integer.signum(VersionOrder.MAVEN.compare(a, b)),
                                a + " and " + b);
                    }
                }
            }
        }
    }

    /** All columns of a row. */
    static class Row implements org.junit.jupiter.params.aggregator.ArgumentsAggregator {
        @Override
        public Object aggregateArguments(
                org.junit.jupiter.params.aggregator.ArgumentsAccessor row,
                org.junit.jupiter.api.extension.ParameterContext context) {
            return row.toList().toArray(String[]::new);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "4.1.0.Final, true",
        "4.1.135.Final, true",
        "4.1.136.Final, false",
        "4.1.136.Final-redhat-00001, false",
        "4.2.0.Alpha1, true",
        "4.2.7.Final, true",
        "4.2.8.Final, false",
        "3.10.6.Final, false"
    })
    void a_line_of_versions_each_has_its_own_end(String version, boolean inside) throws Exception {
        VersionRange range =
                range(
                        "ECOSYSTEM",
                        "{'introduced':'4.1.0'},{'fixed':'4.1.136.Final'},"
                                + "{'introduced':'4.2.0.Alpha1'},{'fixed':'4.2.8.Final'}");
        assertEquals(inside, range.contains(version));
    }

    @Test
    void events_are_read_in_the_order_of_versions() throws Exception {
        VersionRange range =
                range("ECOSYSTEM", "{'fixed':'2.10.0'},{'introduced':'2.9'},{'introduced':'3'}");
        assertTrue(range.contains("2.9.10.8"));
        assertTrue(!range.contains("2.10.1"));
        assertTrue(range.contains("3.1"));
        assertEquals(Optional.of("2.10.0"), range.fixedAfter("2.9.1"));
        assertEquals(Optional.empty(), range.fixedAfter("3.1"));
    }

    @Test
    void zero_is_before_everything_and_the_last_affected_is_affected() throws Exception {
        VersionRange range = range("ECOSYSTEM", "{'introduced':'0'},{'last_affected':'1.2'}");
        assertTrue(range.contains("0-alpha"));
        assertTrue(range.contains("1.2.0.Final"));
        assertTrue(!range.contains("1.2.1"));
    }

    @Test
    void a_limit_ends_a_range() throws Exception {
        assertTrue(
                !range("ECOSYSTEM", "{'introduced':'1'},{'limit':'2'},{'limit':'1.5'}")
                        .contains("2"));
        assertTrue(range("ECOSYSTEM", "{'introduced':'1'},{'limit':'2'}").contains("1.9"));
        assertTrue(range("ECOSYSTEM", "{'introduced':'1'},{'limit':'*'}").contains("99"));
    }

    /** In Maven's order 1.0.0-dev is after 1.0.0. */
    @Test
    void semver_orders_its_own_way() throws Exception {
        VersionRange range = range("SEMVER", "{'introduced':'0'},{'fixed':'1.0.0'}");
        for (String before :
                new String[] {"1.0.0-dev", "1.0.0-rc.1", "1.0.0-rc.1.x", "0.9.10", "1.0.0-1"}) {
            assertTrue(range.contains(before), before);
        }
        assertTrue(!range.contains("1.0.0+build"));
        assertTrue(!range.contains("1.0.1-rc.1"));
        String[] order = {
            "1.0.0-1", "1.0.0-11", "1.0.0-rc", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0-rc.x"
        };
        for (int i = 1; i < order.length; i++) {
            assertTrue(VersionOrder.SEMVER.compare(order[i - 1], order[i]) < 0, order[i]);
        }
    }

    @Test
    void what_cannot_be_understood_is_an_error() {
        for (String events : new String[] {"", "{'fixed':'1'}", "{'introduced':'1','fixed':'2'}"}) {
            assertThrows(AuditException.class, () -> range("ECOSYSTEM", events), events);
        }
        assertThrows(AuditException.class, () -> range("ODD", "{'introduced':'0'}"));
        assertThrows(AuditException.class, () -> range("ECOSYSTEM", "{'introduced':''}"));
        assertThrows(AuditException.class, () -> range("ECOSYSTEM", "{'began':'1'}"));
    }
}
