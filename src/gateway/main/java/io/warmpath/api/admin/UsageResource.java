package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.access.Budgets;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.usage.Spent;
import io.warmpath.usage.UsageBook;
import io.warmpath.usage.UsageWindow;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** What tenants have used of which models. For operators: it names tenants. */
@Path("/usage")
@Produces(MediaType.APPLICATION_JSON)
public class UsageResource {
    private final UsageBook book;
    private final Supplier<List<Budgets.Left>> limits;
    private final UsagePrice price;

    /** {@code limits}: what clients with a limit have left, those seen last first. */
    public UsageResource(UsageBook book, Supplier<List<Budgets.Left>> limits, UsagePrice price) {
        this.book = book;
        this.limits = limits;
        this.price = price;
    }

    /**
     * @param since begin of the window
     * @param rows those with most prompt tokens first
     * @param limits of clients that have one, those seen last first
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "Usage")
    public record Usage(
            String window,
            String since,
            @Nullable Double pricePerMillionPromptTokens,
            @Nullable String currency,
            List<Row> rows,
            Row total,
            List<Limit> limits) {}

    /**
     * @param tenant absent: requests of nobody in particular, or rows by model; {@code other}: of
     *     tenants without a row of their own
     * @param model absent: requests for no model that is served, or rows by tenant
     * @param errors requests without a whole answer, or with an engine's error
     * @param refused requests that were not let in
     * @param cachedTokens of the prompt tokens: as engines report, else as predicted
     * @param predictedTokens those of the cached tokens that no engine has reported
     * @param savedPrefillMs that computing the cached tokens would have taken, by what the router
     *     has learnt of each rank's speed
     * @param savedMoney what computing them would have cost
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "UsageRow")
    public record Row(
            @Nullable String tenant,
            @Nullable String model,
            long requests,
            long errors,
            long refused,
            long promptTokens,
            long cachedTokens,
            long predictedTokens,
            long outputTokens,
            double savedPrefillMs,
            @Nullable Double savedMoney) {}

    /** {@code client}: name of its key. */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "UsageLimit")
    public record Limit(
            String client,
            @Nullable String tenant,
            @Nullable Long requestsPerMinute,
            @Nullable Long requestsLeft,
            @Nullable Long tokensPerMinute,
            @Nullable Long tokensLeft) {
        private static Limit of(Budgets.Left left) {
            Budgets.Part requests = left.requests();
            Budgets.Part tokens = left.tokens();
            return new Limit(
                    left.client(),
                    orNull(left.tenant()),
                    requests == null ? null : requests.perMinute(),
                    requests == null ? null : requests.left(),
                    tokens == null ? null : tokens.perMinute(),
                    tokens == null ? null : tokens.left());
        }
    }

    /** What a row is of; empty: not told apart, or not known. */
    private record Key(String tenant, String model) {}

    @GET
    @Operation(
            summary = "What tenants have used of which models, and what caching has saved",
            description =
                    "A window is at most one step longer than its name: 30 s, 5 minutes, an hour.")
    @Parameter(
            name = "window",
            in = ParameterIn.QUERY,
            description = "How far back; 1h when absent",
            schema =
                    @Schema(
                            type = SchemaType.STRING,
                            enumeration = {"5m", "1h", "24h", "total"}))
    @Parameter(
            name = "by",
            in = ParameterIn.QUERY,
            description = "What rows are of; tenant,model when absent",
            schema =
                    @Schema(
                            type = SchemaType.STRING,
                            enumeration = {"tenant", "model", "tenant,model"}))
    public Usage usage(@Context UriInfo uri) {
        Query query = new Query(uri, List.of("window", "by"));
        UsageWindow window = window(query.text("window"));
        String by = query.text("by") == null ? "tenant,model" : query.text("by");
        if (by == null || !List.of("tenant", "model", "tenant,model").contains(by)) {
            throw InvalidRequest.bad("by", "`by` must be one of tenant, model, tenant,model.");
        }
        UsageBook.Report report = book.report(window);
        Map<Key, Spent> sums = new HashMap<>();
        Spent total = Spent.NOTHING;
        for (UsageBook.Row r : report.rows()) {
            Key key =
                    new Key(
                            by.startsWith("tenant") ? r.tenant() : "",
                            by.endsWith("model") ? r.model() : "");
            sums.merge(key, r.spent(), Spent::plus);
            total = total.plus(r.spent());
        }
        return new Usage(
                window.word(),
                Instant.ofEpochMilli(report.sinceMillis()).toString(),
                price.perMillionTokens().orElse(null),
                price.perMillionTokens().map(p -> price.currency()).orElse(null),
                sums.entrySet().stream()
                        .map(e -> row(e.getKey(), e.getValue()))
                        .sorted(
                                Comparator.comparingLong(Row::promptTokens)
                                        .thenComparingLong(Row::requests)
                                        .reversed())
                        .toList(),
                row(new Key("", ""), total),
                limits.get().stream().map(Limit::of).toList());
    }

    private static UsageWindow window(@Nullable String given) {
        return UsageWindow.of(given == null ? UsageWindow.HOUR.word() : given)
                .orElseThrow(
                        () ->
                                InvalidRequest.bad(
                                        "window",
                                        "`window` must be one of "
                                                + Stream.of(UsageWindow.values())
                                                        .map(UsageWindow::word)
                                                        .collect(Collectors.joining(", "))
                                                + "."));
    }

    private Row row(Key key, Spent s) {
        return new Row(
                orNull(key.tenant()),
                orNull(key.model()),
                s.requests(),
                s.errors(),
                s.refused(),
                s.promptTokens(),
                s.cachedTokens(),
                s.predictedTokens(),
                s.outputTokens(),
                s.savedMillis(),
                price.perMillionTokens().map(p -> s.cachedTokens() * p / 1e6).orElse(null));
    }

    private static @Nullable String orNull(String text) {
        return text.isEmpty() ? null : text;
    }
}
