package io.warmpath.capture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The requests of a capture with their answers, and what was going on around each. Immutable. */
final class Conversation {
    /**
     * @param response null when the recording has none
     * @param until when the next request after the answer began; events until then may be its own
     */
    record Exchange(Capture.Request request, Capture.@Nullable Response response, double until) {
        double answered() {
            return response == null ? Double.MAX_VALUE : response.time();
        }
    }

    private final List<Exchange> exchanges = new ArrayList<>();

    Conversation(Capture capture) {
        Map<String, Capture.Response> responses = new HashMap<>();
        List<Capture.Request> requests = new ArrayList<>();
        for (Capture.Line line : capture.lines()) {
            if (line instanceof Capture.Response r) {
                responses.put(r.id(), r);
            } else if (line instanceof Capture.Request r) {
                requests.add(r);
            }
        }
        for (Capture.Request request : requests) {
            Capture.Response response = responses.get(request.id());
            double answered = response == null ? Double.MAX_VALUE : response.time();
            double until =
                    requests.stream()
                            .mapToDouble(Capture.Request::time)
                            .filter(t -> t >= answered)
                            .min()
                            .orElse(Double.MAX_VALUE);
            exchanges.add(new Exchange(request, response, until));
        }
    }

    List<Exchange> exchanges() {
        return exchanges;
    }

    /** Others that were running at some moment while this one was. */
    List<Exchange> besides(Exchange e) {
        return exchanges.stream()
                .filter(
                        o ->
                                !o.request().id().equals(e.request().id())
                                        && o.request().time() <= e.answered()
                                        && o.answered() >= e.request().time())
                .toList();
    }

    /** Others that were answered before this one began. */
    List<Exchange> before(Exchange e) {
        return exchanges.stream().filter(o -> o.answered() < e.request().time()).toList();
    }
}
