package io.warmpath.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuditMainTest {
    private static final LocalDate TODAY = LocalDate.of(2026, 11, 24);

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    @TempDir Path folder;
    private Path sbom;

    @BeforeEach
    void list() throws IOException {
        sbom =
                file(
                        "java.cdx.json",
                        """
                        {'bomFormat':'CycloneDX','components':[
                         {'group':'io.netty','name':'netty-codec-http','version':'4.1.136.Final',
                          'purl':'pkg:maven/io.netty/netty-codec-http@4.1.136.Final?type=jar'},
                         {'group':'g','name':'holder','version':'1','components':[
                          {'purl':'pkg:maven/g/inner@1.0%2Bb?type=jar'}],'purl':'pkg:maven/g/holder@1'},
                         {'name':'xxhash','version':'0.8 or later'}]}
                        """);
    }

    private Path file(String name, String json) throws IOException {
        return Files.writeString(folder.resolve(name), json.replace('\'', '"'));
    }

    /** A record about one package. */
    private static String osv(String id, String name, String affected) {
        return "{'id':'"
                + id
                + "','modified':'2026-01-01T00:00:00Z','summary':'It leaks.','aliases':['CVE-2026-1'],"
                + "'database_specific':{'severity':'HIGH'},'severity':[{'type':'CVSS_V3','score':'CVSS:3.1/X'}],"
                + "'references':[{'type':'WEB','url':'https://w'},{'type':'ADVISORY','url':'https://a'}],"
                + "'affected':[{'package':{'ecosystem':'Maven','name':'"
                + name
                + "'},"
                + affected
                + "}]}";
    }

    private static String until(String fixed) {
        return "'ranges':[{'type':'ECOSYSTEM','events':[{'introduced':'0'},{'fixed':'"
                + fixed
                + "'}]}]";
    }

    private static final String NETTY = "io.netty:netty-codec-http";
    private static final String HIT = osv("GHSA-hit", NETTY, until("4.1.137.Final"));
    private static final String MENDED = osv("GHSA-mended", NETTY, until("4.1.100.Final"));

    private int run(String... args) {
        out.reset();
        err.reset();
        return AuditMain.run(
                args,
                TODAY,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private int audit(String record, String... more) throws IOException {
        Path database = file("osv.json", record);
        String[] args = new String[4 + more.length];
        args[0] = "--osv";
        args[1] = database.toString();
        args[2] = "--sbom";
        args[3] = sbom.toString();
        System.arraycopy(more, 0, args, 4, more.length);
        return run(args);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private void assertError(int status, String message) {
        assertEquals(2, status, out());
        String said = err.toString(StandardCharsets.UTF_8);
        assertTrue(said.contains(message), said);
        assertEquals("", out());
    }

    @Test
    void a_dependency_with_a_known_fault_is_found_and_says_what_to_do() throws Exception {
        assertEquals(1, audit(HIT));
        assertEquals(
                """
                io.netty:netty-codec-http 4.1.136.Final
                  GHSA-hit (CVE-2026-1)  HIGH  CVSS:3.1/X
                  It leaks.
                  fixed in 4.1.137.Final
                  next: raise io.netty:netty-codec-http to 4.1.137.Final or later, or give --ignore its id with a reason and a date after which it counts again
                not compared, no package of Maven: xxhash 0.8 or later
                3 components compared with 1 records of Maven (0 withdrawn left out): 1 found, 0 ignored, 0 not decided
                """,
                out());
    }

    @Test
    void one_that_is_mended_in_ours_or_is_about_others_is_not() throws Exception {
        assertEquals(0, audit(MENDED));
        assertEquals(0, audit(osv("GHSA-other", "io.netty:netty-codec", until("9"))));
        assertEquals(
                0, audit(osv("GHSA-old", NETTY, "'versions':['4.1.1.Final','4.1.135.Final']")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'versions':['4.1.136']",
                "'versions':['9'],'ranges':[{'type':'ECOSYSTEM','events':[{'introduced':'4.1.136.Final'}]}]",
                "'ranges':[{'type':'GIT','repo':'r','events':[{'introduced':'0'}]},"
                        + "{'type':'SEMVER','events':[{'introduced':'4.0.0'}]}]",
                "'database_specific':{}"
            })
    void there_are_several_ways_to_say_a_version(String affected) throws Exception {
        assertEquals(1, audit(osv("GHSA-x", NETTY, affected)), affected);
        assertTrue(out().contains("next: no fixed version is known"), out());
        assertTrue(out().contains("(https://a)"), out());
    }

    @Test
    void a_package_may_be_named_by_its_url_and_by_its_repository() throws Exception {
        String named = HIT.replace("'ecosystem':'Maven'", "'ecosystem':'Maven:https://r'");
        assertEquals(1, audit(named));
        assertEquals(
                1,
                audit(
                        HIT.replace(
                                "'ecosystem':'Maven','name':'" + NETTY + "'",
                                "'purl':'pkg:maven/io.netty/netty-codec-http'")));
        assertEquals(1, audit(osv("GHSA-inner", "g:inner", "'versions':['1.0+b']")));
    }

    @Test
    void a_record_that_was_taken_back_is_left_out() throws Exception {
        String back = HIT.replace("'summary'", "'withdrawn':'2026-02-01T00:00:00Z','summary'");
        assertEquals(0, audit("[" + back + "," + MENDED + "]"));
        assertTrue(out().contains("(1 withdrawn left out): 0 found"), out());
    }

    @Test
    void commits_alone_decide_nothing_and_that_is_said() throws Exception {
        String git = "'ranges':[{'type':'GIT','repo':'r','events':[{'introduced':'0'}]}]";
        assertEquals(0, audit(osv("GHSA-git", NETTY, git)));
        assertTrue(
                out().contains(
                                "not decided: GHSA-git of io.netty:netty-codec-http 4.1.136.Final:"
                                        + " says commits and no versions"),
                out());
    }

    @Test
    void what_is_ignored_counts_again_after_its_day() throws Exception {
        Path today = ignore("CVE-2026-1", "2026-11-24");
        assertEquals(0, audit(HIT, "--ignore", today.toString()));
        assertTrue(out().contains("ignored: io.netty:netty-codec-http 4.1.136.Final, GHSA-hit"));
        assertEquals(1, audit(HIT, "--ignore", ignore("GHSA-hit", "2026-11-23").toString()));
        assertTrue(out().contains("until 2026-11-23 (not reached) and counts again"), out());
        assertEquals(1, audit(HIT, "--ignore", ignore("GHSA-another", "2099-01-01").toString()));
        assertTrue(out().contains("GHSA-another is ignored and was not found"), out());
    }

    private Path ignore(String id, String until) throws IOException {
        return file(
                "ignore.json",
                "[{'id':'" + id + "','reason':'not reached','until':'" + until + "'}]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[{'id':'a','until':'2099-01-01'}]",
                "[{'id':'a','reason':' ','until':'2099-01-01'}]",
                "[{'id':'a','reason':'r'}]",
                "[{'id':'a','reason':'r','until':'soon'}]",
                "[{'id':'a','reason':'r','until':'2099-01-01','by':'me'}]"
            })
    void what_is_ignored_has_a_reason_and_a_day(String ignored) throws Exception {
        Path file = file("ignore.json", ignored);
        assertError(audit(HIT, "--ignore", file.toString()), "ignore.json");
    }

    @Test
    void json_says_the_same() throws Exception {
        assertEquals(1, audit("[" + HIT + "," + MENDED + "]", "--json"));
        JsonNode all = new ObjectMapper().readTree(out());
        assertEquals(3, all.path("compared").asInt());
        assertEquals(2, all.path("records").asInt());
        JsonNode one = all.path("findings").path(0);
        assertEquals(NETTY, one.path("package").asText());
        assertEquals("4.1.136.Final", one.path("version").asText());
        assertEquals("4.1.137.Final", one.path("fixed").asText());
        assertEquals("CVE-2026-1", one.path("aliases").path(0).asText());
        assertEquals(1, all.path("findings").size());
        assertEquals("xxhash 0.8 or later", all.path("not_compared").path(0).asText());
    }

    @Test
    void a_database_may_be_a_folder_or_a_zip() throws Exception {
        Path deep = Files.createDirectories(folder.resolve("db/2026/GHSA-hit"));
        Files.writeString(deep.resolve("GHSA-hit.json"), HIT.replace('\'', '"'));
        Files.writeString(folder.resolve("db/README.md"), "not a record");
        assertEquals(1, run("--osv", folder.resolve("db").toString(), "--sbom", sbom.toString()));
        Path zip = folder.resolve("all.zip");
        try (OutputStream bytes = Files.newOutputStream(zip);
                ZipOutputStream to = new ZipOutputStream(bytes)) {
            for (String record : new String[] {HIT, MENDED}) {
                to.putNextEntry(new ZipEntry(record.substring(7, 15) + ".json"));
                to.write(record.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
            }
        }
        assertEquals(1, run("--osv", zip.toString(), "--sbom", sbom.toString()));
        assertTrue(out().contains("with 2 records of Maven"), out());
    }

    /** A run that compared nothing has not passed. */
    @Test
    void a_database_that_says_nothing_is_an_error() throws Exception {
        assertError(audit("[]"), "the database has no record");
        String npm = HIT.replace("'Maven'", "'npm'");
        assertError(audit(npm), "no record of the ecosystem Maven");
        assertError(audit(HIT + "x"), "osv.json: no JSON");
        assertError(audit("{'id':'x'}"), "no text `modified`");
        assertError(audit(""), "osv.json");
        assertError(audit(HIT.replace("ECOSYSTEM", "ODD")), "GHSA-hit: a range of type ODD");
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertError(run("--osv", empty.toString(), "--sbom", sbom.toString()), "no record");
        Path zip = Files.writeString(folder.resolve("no.zip"), "no zip");
        assertError(run("--osv", zip.toString(), "--sbom", sbom.toString()), "no record");
        assertError(run("--osv", "/nowhere", "--sbom", sbom.toString()), "/nowhere");
    }

    @Test
    void a_list_that_has_nothing_to_compare_is_an_error() throws Exception {
        Path osv = file("osv.json", HIT);
        Path none = file("none.json", "{'bomFormat':'CycloneDX','components':[]}");
        assertError(run("--osv", osv.toString(), "--sbom", none.toString()), "no list");
        Path other = file("other.json", "{'components':[{'name':'x'}]}");
        assertError(run("--osv", osv.toString(), "--sbom", other.toString()), "no list");
        Path natives = file("n.json", "{'bomFormat':'CycloneDX','components':[{'name':'x'}]}");
        assertError(run("--osv", osv.toString(), "--sbom", natives.toString()), "no component");
    }

    @Test
    void wrong_use_says_what_is_wrong() {
        assertError(run(), "--osv and --sbom");
        assertError(run("--osv"), "--osv needs a path");
        assertError(run("--fast"), "unknown argument --fast");
        assertEquals(0, run("--help"));
        assertTrue(out().startsWith("Usage: ./warmpath audit"));
    }
}
