package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a {@link RoutingRequest} is built from, named as there. One thread. */
public final class RoutingRequestBuilder {
    private final List<Candidate> candidates;
    private final int promptTokens;
    private List<PrefixMatch> matches;
    private List<PromptBlocks> prompts = List.of();
    private OptionalLong pinnedWorker = OptionalLong.empty();
    private OptionalInt pinnedRank = OptionalInt.empty();
    private TaintRules taints = TaintRules.NONE;
    private RouterOverrides overrides = RouterOverrides.NONE;
    private @Nullable SharedView shared;
    private int outputTokens;
    private int mostOutputTokens;
    private RoutingRequest.Detail detail = RoutingRequest.Detail.CHOSEN;
    private List<Ineligible> ineligible = List.of();
    private Circumstances circumstances = Circumstances.NONE;
    private @Nullable PinView pins;
    private Part part = Part.WHOLE;
    private TransferCost transfer = TransferCost.NONE;
    private @Nullable AdapterView adapter;

    RoutingRequestBuilder(List<Candidate> candidates, int promptTokens, List<PrefixMatch> matches) {
        this.candidates = candidates;
        this.promptTokens = promptTokens;
        this.matches = matches;
    }

    RoutingRequestBuilder(RoutingRequest request) {
        this(request.candidates(), request.promptTokens(), request.matches());
        prompts = request.prompts();
        pinnedWorker = request.pinnedWorker();
        pinnedRank = request.pinnedRank();
        taints = request.taints();
        overrides = request.overrides();
        shared = request.shared();
        outputTokens = request.outputTokens();
        mostOutputTokens = request.mostOutputTokens();
        detail = request.detail();
        ineligible = request.ineligible();
        circumstances = request.circumstances();
        pins = request.pins();
        part = request.part();
        transfer = request.transfer();
        adapter = request.adapter();
    }

    public RoutingRequestBuilder matches(List<PrefixMatch> value) {
        matches = value;
        return this;
    }

    public RoutingRequestBuilder prompts(List<PromptBlocks> value) {
        prompts = value;
        return this;
    }

    public RoutingRequestBuilder pinnedWorker(OptionalLong value) {
        pinnedWorker = value;
        return this;
    }

    public RoutingRequestBuilder pinnedRank(OptionalInt value) {
        pinnedRank = value;
        return this;
    }

    public RoutingRequestBuilder taints(TaintRules value) {
        taints = value;
        return this;
    }

    public RoutingRequestBuilder overrides(RouterOverrides value) {
        overrides = value;
        return this;
    }

    public RoutingRequestBuilder shared(@Nullable SharedView value) {
        shared = value;
        return this;
    }

    public RoutingRequestBuilder outputTokens(int value) {
        outputTokens = value;
        return this;
    }

    public RoutingRequestBuilder mostOutputTokens(int value) {
        mostOutputTokens = value;
        return this;
    }

    public RoutingRequestBuilder detail(RoutingRequest.Detail value) {
        detail = value;
        return this;
    }

    public RoutingRequestBuilder ineligible(List<Ineligible> value) {
        ineligible = value;
        return this;
    }

    public RoutingRequestBuilder circumstances(Circumstances value) {
        circumstances = value;
        return this;
    }

    public RoutingRequestBuilder pins(@Nullable PinView value) {
        pins = value;
        return this;
    }

    public RoutingRequestBuilder part(Part value) {
        part = value;
        return this;
    }

    public RoutingRequestBuilder transfer(TransferCost value) {
        transfer = value;
        return this;
    }

    public RoutingRequestBuilder adapter(@Nullable AdapterView value) {
        adapter = value;
        return this;
    }

    public RoutingRequest build() {
        return new RoutingRequest(
                candidates,
                promptTokens,
                matches,
                prompts,
                pinnedWorker,
                pinnedRank,
                taints,
                overrides,
                shared,
                outputTokens,
                mostOutputTokens,
                detail,
                ineligible,
                circumstances,
                pins,
                part,
                transfer,
                adapter);
    }
}
