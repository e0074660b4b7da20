package io.warmpath.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.fault.GatewayError;
import io.warmpath.tokens.ReloadedModel;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * {@code POST /models/reload}: loads the models' files anew, and says of each what became of it.
 *
 * <p>The route runs on the event loop, loading on Vert.x's workers.
 */
public final class ModelsApi {
    private static final Logger LOG = Logger.getLogger(ModelsApi.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PATH = "/models/reload";

    /** Before the routes of the runtime, like all of ours. */
    private static final int FIRST = -1000;

    private final Supplier<List<ReloadedModel>> reload;
    private final AdminAccess access;

    /**
     * @param reload takes as long as loading does
     */
    public ModelsApi(Supplier<List<ReloadedModel>> reload, AdminAccess access) {
        this.reload = reload;
        this.access = access;
    }

    public void mount(Router router) {
        router.route(PATH).order(FIRST).handler(this::handle);
    }

    private void handle(RoutingContext rc) {
        if (access.enters(rc, "POST")) {
            rc.vertx()
                    .executeBlocking(reload::get, false)
                    .onSuccess(models -> answer(rc, models))
                    .onFailure(
                            e -> {
                                LOG.error("POST " + PATH + " failed", e);
                                fail(rc, new GatewayError.Internal(AdminAccess.requestId(rc)));
                            });
        }
    }

    /** {@code ok} is false when some model does not have the files that lie there now. */
    private static void answer(RoutingContext rc, List<ReloadedModel> models) {
        ObjectNode answer = JSON.createObjectNode();
        answer.put("ok", models.stream().allMatch(model -> model.problem().isEmpty()));
        ArrayNode list = answer.putArray("models");
        for (ReloadedModel model : models) {
            ObjectNode one = list.addObject();
            model.models().forEach(one.putArray("models")::add);
            one.put("files", model.files());
            one.put("outcome", model.outcome().name().toLowerCase(Locale.ROOT));
            if (!model.problem().isEmpty()) {
                one.put("problem", model.problem());
            }
        }
        HttpServerResponse response = rc.response();
        if (!response.ended() && !response.closed()) {
            response.putHeader("content-type", "application/json");
            response.end(answer.toString());
        }
    }

    private static void fail(RoutingContext rc, GatewayError error) {
        HttpServerResponse response = rc.response();
        if (!response.ended() && !response.closed()) {
            ErrorMapper.respond(response, error, AdminAccess.requestId(rc));
        }
    }
}
