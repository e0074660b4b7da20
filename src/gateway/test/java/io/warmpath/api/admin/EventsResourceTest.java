package io.warmpath.api.admin;

import static io.restassured.RestAssured.given;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.restassured.builder.RequestSpecBuilder;
import io.restassured.config.EncoderConfig;
import io.restassured.config.RestAssuredConfig;
import io.restassured.http.ContentType;
import io.restassured.response.ValidatableResponse;
import io.restassured.specification.RequestSpecification;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.warmpath.api.ApiServer;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Engines that post their events, over real HTTP. */
@Timeout(60)
class EventsResourceTest {
    private static final String STORED =
            "{\"type\":\"BlockStored\",\"block_hashes\":[\"18446744073709551615\"],"
                    + "\"token_ids\":[0,1],\"block_size\":2}";

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final PostedFeed feed =
            new PostedFeed(
                    index,
                    new EventCounters(),
                    new SourceSession.Timing(5_000_000_000L, Long.MAX_VALUE, Long.MAX_VALUE),
                    System::nanoTime);
    private final Vertx vertx = Vertx.vertx();
    private HttpServer server;

    @BeforeEach
    void serve() throws Exception {
        feed.subscribe(
                new EventSource("w", 0, List.of(slot), EventEndpoint.POSTED, false, null, "", 2));
        Router router = Router.router(vertx);
        AdminRoute.mount(
                router,
                new AdminAccess(Optional.of("secret"), "page"),
                new EventsResource(Optional.of(feed)));
        server = ApiServer.listen(vertx, router);
    }

    @AfterEach
    void stop() throws Exception {
        server.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        feed.close();
        index.close();
    }

    @Test
    void json_is_applied_before_it_is_answered() {
        json(batch(0, STORED))
                .statusCode(200)
                .body("next_sequence", equalTo(1))
                .body("repeated", equalTo(false))
                .body("state", equalTo("exact"));
        assertEquals(1, depth(Tier.GPU, 0, 1));
        json(batch(
                        1,
                        "{\"type\":\"BlockStored\",\"block_hashes\":[5],\"medium\":\"CPU\","
                                + "\"parent_block_hash\":-1,\"token_ids\":[2,4294967295],"
                                + "\"block_size\":2}"))
                .statusCode(200);
        assertEquals(2, depth(Tier.HOST, 0, 1, 2, -1), "-1 and 2^64-1 are one name");
        json(batch(1, STORED)).statusCode(200).body("repeated", equalTo(true));
        json(batch(2, "{\"type\":\"AllBlocksCleared\"}")).statusCode(200);
        assertEquals(0, depth(Tier.HOST, 0, 1));
    }

    @Test
    void messagepack_means_the_same() throws Exception {
        try (MessageBufferPacker pack = MessagePack.newDefaultBufferPacker()) {
            pack.packMapHeader(5);
            pack.packString("worker").packString("w");
            pack.packString("epoch").packLong(1);
            pack.packString("sequence").packLong(0);
            pack.packString("ts").packDouble(1.5);
            pack.packString("events").packArrayHeader(1).packMapHeader(5);
            pack.packString("type").packString("BlockStored");
            pack.packString("block_hashes").packArrayHeader(1);
            pack.packBigInteger(BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE));
            pack.packString("parent_block_hash").packNil();
            pack.packString("token_ids").packArrayHeader(2).packInt(0).packInt(1);
            pack.packString("block_size").packInt(2);
            byte[] whole = pack.toByteArray();
            msgpack(Arrays.copyOf(whole, whole.length - 1)).statusCode(400);
            msgpack(Arrays.copyOf(whole, whole.length + 1)).statusCode(400);
            msgpack(new byte[] {(byte) 0xdd, 0x7f, -1, -1, -1}).statusCode(400);
            assertEquals(0, depth(Tier.GPU, 0, 1));
            msgpack(whole).statusCode(200).body("next_sequence", equalTo(1));
            assertEquals(1, depth(Tier.GPU, 0, 1));
        }
    }

    @Test
    void a_gap_is_answered_with_what_should_come() {
        json(batch(0, STORED)).statusCode(200);
        json(batch(2, STORED))
                .statusCode(409)
                .body("error.code", equalTo("events_out_of_order"))
                .body("error.message", containsString("go on with batch 1 of epoch 1"))
                .body("epoch", equalTo(1))
                .body("next_sequence", equalTo(1));
    }

    @Test
    void one_wrong_member_is_named_and_nothing_is_applied() {
        String wrong = STORED.replace("[0,1]", "[0,-1]");
        json(batch(0, STORED + "," + wrong))
                .statusCode(400)
                .body("error.param", equalTo("events[1].token_ids[1]"));
        json(batch(0, STORED).replace("\"w\"", "\"other\""))
                .statusCode(400)
                .body("error.param", equalTo("worker"));
        assertEquals(0, depth(Tier.GPU, 0, 1));
        json(batch(0, STORED)).statusCode(200).body("next_sequence", equalTo(1));
    }

    @Test
    void who_may_not_or_asks_wrongly_is_told() {
        given().spec(spec()).body("{}").post("/events").then().statusCode(403);
        json("{").statusCode(400);
        json("[]").statusCode(400);
        json(batch(0, STORED) + "x").statusCode(400);
        request().get("/events").then().statusCode(405).header("allow", "POST");
        request().contentType("text/plain").body("x").post("/events").then().statusCode(400);
        json("{\"x\":\"" + "x".repeat(8 << 20) + "\"}")
                .statusCode(400)
                .body("error.message", containsString("several batches"));
    }

    /** A value of two bytes takes a hundred in a tree. */
    @Test
    void a_body_of_very_many_small_values_is_refused_before_a_tree_is_made_of_it() {
        String most = "100000 arrays and objects";
        json(batch(0, "{},".repeat(120_000) + "{}"))
                .statusCode(400)
                .body("error.message", containsString(most));
        json(batch(0, "1,".repeat(1_600_000) + "1"))
                .statusCode(400)
                .body("error.message", containsString("1500000 values"));
        byte[] arrays = new byte[120_005];
        Arrays.fill(arrays, (byte) 0x90);
        ByteBuffer.wrap(arrays).put((byte) 0xdd).putInt(120_000);
        msgpack(arrays).statusCode(400).body("error.message", containsString(most));
        // The control: as many tokens as a large batch has.
        json(batch(0, STORED.replace("[0,1]", "[" + "70000,".repeat(1_000_000) + "1]")))
                .statusCode(400)
                .body("error.param", equalTo("events[0].token_ids"));
        json(batch(0, STORED)).statusCode(200);
    }

    private static String batch(int sequence, String event) {
        return "{\"worker\":\"w\",\"epoch\":1,\"sequence\":"
                + sequence
                + ",\"events\":["
                + event
                + "]}";
    }

    private ValidatableResponse json(String body) {
        return request().contentType(ContentType.JSON).body(body).post("/events").then();
    }

    private ValidatableResponse msgpack(byte[] body) {
        return request().contentType("application/msgpack").body(body).post("/events").then();
    }

    private RequestSpecification request() {
        return given().spec(spec()).header("authorization", "Bearer secret");
    }

    private RequestSpecification spec() {
        return new RequestSpecBuilder()
                .setBaseUri("http://127.0.0.1")
                .setPort(server.actualPort())
                .setConfig(
                        RestAssuredConfig.config()
                                .encoderConfig(
                                        EncoderConfig.encoderConfig()
                                                .encodeContentTypeAs(
                                                        "application/msgpack", ContentType.BINARY)))
                .build();
    }

    private int depth(Tier tier, int... prompt) {
        PrefixMatch match =
                index.match(new PrefixQuery(prompt, prompt.length, 2, PrefixSpace.NONE));
        return match.depth(slot, tier);
    }
}
