package io.warmpath.sim;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.warmpath.sim.http.SimExchange;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Fault switches and inspection under {@code /sim/}, any method. Engine's thread only.
 *
 * <ul>
 *   <li>{@code /sim/stats}: what the engine holds and has done
 *   <li>{@code /sim/kill}: answers, then dies: connections reset, ports closed
 *   <li>{@code /sim/die?after=N[&scope=SCOPE]}: the same after N events of the next answer; 0
 *       answers nothing at all; with the scope {@code connection} only that connection breaks, with
 *       {@code stall} it stays and nothing more comes, with {@code garbage} no HTTP comes
 *   <li>{@code /sim/fail?status=S[&count=N][&retry-after=S]}: the next N completion requests (all
 *       by default) get this status; status 0 ends it
 *   <li>{@code /sim/drop-events?n=N}: the next N event batches of every rank are lost on the wire
 *   <li>{@code /sim/stop}: takes connections and answers nothing, running answers included, until
 *       {@code /sim/stop?on=0}
 *   <li>{@code /sim/slow?ms=N}: completion requests begin N milliseconds later; 0 ends it
 *   <li>{@code /sim/speed?percent=N}: computing and decoding go so fast from then on; 100 ends it
 *   <li>{@code /sim/health?status=S[&text=T]}: what {@code /health} answers; 200 ends it
 *   <li>{@code /sim/template?start=TEXT}: prompts of chats begin with this text; none ends it
 * </ul>
 */
record ControlApi(
        Faults faults, List<Rank> ranks, Supplier<SimStats> stats, EngineApi.Death death) {
    private static final ObjectMapper JSON =
            JsonMapper.builder()
                    .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                    .build();

    /** False when the path is not one of these. */
    boolean handle(SimExchange exchange) {
        try {
            switch (exchange.path()) {
                case "/sim/stats" -> exchange.json(200, JSON.writeValueAsString(stats.get()));
                case "/sim/kill" -> {
                    exchange.json(200, "{\"killed\":true}");
                    death.now(exchange.channel());
                }
                case "/sim/die" -> {
                    faults.dieAfter(number(exchange, "after", 0), scope(exchange));
                    exchange.json(200, "{\"armed\":true}");
                }
                case "/sim/fail" -> {
                    int status = number(exchange, "status", 503);
                    if (status != 0 && (status < 400 || status > 599)) {
                        throw new IllegalArgumentException("status must be 0 or 400 to 599");
                    }
                    faults.fail(
                            status,
                            number(exchange, "count", -1),
                            number(exchange, "retry-after", 0));
                    exchange.json(200, "{\"armed\":true}");
                }
                case "/sim/drop-events" -> {
                    int count = number(exchange, "n", 1);
                    ranks.forEach(r -> r.publisher().dropNext(count));
                    exchange.json(200, "{\"armed\":true}");
                }
                case "/sim/stop" -> {
                    faults.stop(number(exchange, "on", 1) != 0);
                    exchange.json(200, "{\"armed\":true}");
                }
                case "/sim/slow" -> {
                    faults.delay(Duration.ofMillis(number(exchange, "ms", 0)));
                    exchange.json(200, "{\"armed\":true}");
                }
                case "/sim/speed" -> {
                    int percent = number(exchange, "percent", 100);
                    if (percent < 1) {
                        throw new IllegalArgumentException("percent must be 1 or more");
                    }
                    ranks.forEach(r -> r.speed(percent / 100.0));
                    exchange.json(200, "{\"armed\":true}");
                }
                case "/sim/health" -> {
                    String text = exchange.param("text");
                    faults.health(number(exchange, "status", 503), text == null ? "" : text);
                    exchange.json(200, "{\"armed\":true}");
                }
                case "/sim/template" -> {
                    String start = exchange.param("start");
                    faults.startTemplateWith(start == null ? "" : start);
                    exchange.json(200, "{\"armed\":true}");
                }
                default -> {
                    return false;
                }
            }
        } catch (IllegalArgumentException e) {
            exchange.json(
                    400, "{\"error\":" + AnswerShape.quoted(String.valueOf(e.getMessage())) + "}");
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a record of numbers is always JSON", e);
        }
        return true;
    }

    private static Faults.End scope(SimExchange exchange) {
        String scope = exchange.param("scope");
        if (scope == null) {
            return Faults.End.ENGINE;
        }
        try {
            return Faults.End.valueOf(scope.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "scope must be engine, connection, stall or garbage, got " + scope, e);
        }
    }

    private static int number(SimExchange exchange, String name, int otherwise) {
        String value = exchange.param(name);
        if (value == null) {
            return otherwise;
        }
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a number, got " + value, e);
        }
    }
}
