package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.source.WorkerFields;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkerRecordTest {
    private static byte[] bytes(String json) {
        return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void what_is_written_is_read() throws Exception {
        WorkerRecord record =
                new WorkerRecord(
                        Duration.ofSeconds(10),
                        "00ff",
                        WorkerFields.spec(Map.of("url", "http://10.0.0.1:30000", "weight", 2.5)));
        assertEquals(record, WorkerRecord.decode(record.encoded()));
    }

    @Test
    void fields_of_a_later_version_are_stepped_over() throws Exception {
        WorkerRecord record =
                WorkerRecord.decode(
                        bytes(
                                "{'version':1,'lease_ms':10000,'process':'p','zone':7,"
                                        + "'worker':{'url':'http://h:1','topology_domains':{}}}"));
        assertEquals("http://h:1", record.worker().url().toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "not JSON | ",
                "not JSON | {'version':1} x",
                "not a JSON object | []",
                "version is null | {}",
                "version is 2 | {'version':2}",
                "lease_ms is 5 | {'version':1,'lease_ms':5}",
                "lease_ms is 700000 | {'version':1,'lease_ms':700000}",
                "process is not a text | {'version':1,'lease_ms':9999}",
                "worker is not an object | {'version':1,'lease_ms':9999,'process':'p'}",
                "url is missing | {'version':1,'lease_ms':9999,'process':'p','worker':{}}",
                "`weight must be` | {'version':1,'lease_ms':9999,'process':'p','worker':{'url':'http://h:1','weight':0}}",
                "must look like | {'version':1,'lease_ms':9999,'process':'p','worker':{'url':'ftp://h:1'}}"
            })
    void a_bad_record_is_refused_with_a_reason(String reason, String json) {
        WorkerRecord.BadRecord e =
                assertThrows(
                        WorkerRecord.BadRecord.class,
                        () -> WorkerRecord.decode(bytes(json == null ? "" : json)));
        assertTrue(String.valueOf(e.getMessage()).contains(reason), e.getMessage());
    }
}
