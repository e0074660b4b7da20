package io.warmpath.api.openapi;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.parameters.Parameter;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;

/**
 * Gives each operation what all of its kind have: who may use it, the headers that routing reads,
 * the form of errors. Runs when the gateway is built.
 */
public class CommonParts implements OASFilter {
    private static final String ADMIN = "Admin";

    /** Probes and metrics: no key, and no error of the gateway's. */
    private static final String STATUS = "Status";

    /** Tags of the operations that are routed. */
    private static final Set<String> ROUTED = Set.of("Chat", "Messages", "Pass-through", "Direct");

    /** What operators put into paths. */
    private static final Map<String, String> IN_PATHS =
            Map.of(
                    "worker", "Name or id of the worker",
                    "session", "Id of the session",
                    "pin", "Id of the pin");

    private static final List<String> HINTS =
            List.of(
                    "RequestId",
                    "Session",
                    "SessionFinal",
                    "ParentSession",
                    "Tenant",
                    "Worker",
                    "DpRank",
                    "PrefillWorker",
                    "PrefillDpRank",
                    "Priority",
                    "StrictPriority",
                    "Objective",
                    "PolicyClass",
                    "Tolerations",
                    "RequiredTaints",
                    "PreferredTaints",
                    "Explain");

    @Override
    public void filterOpenAPI(OpenAPI api) {
        api.getPaths()
                .getPathItems()
                .values()
                .forEach(item -> item.getOperations().values().forEach(CommonParts::complete));
    }

    private static void complete(Operation operation) {
        if (operation.getTags() == null) {
            operation.addTag(ADMIN); // a resource: all others have a tag where they are described
        }
        if (operation.getParameters() != null) {
            operation.getParameters().stream()
                    .filter(p -> IN_PATHS.containsKey(p.getName()) && p.getDescription() == null)
                    .filter(p -> p.getIn() == Parameter.In.PATH)
                    .forEach(p -> p.setDescription(IN_PATHS.get(p.getName())));
        }
        String tag = operation.getTags().getFirst();
        if (tag.equals(STATUS)) {
            return;
        }
        for (String scheme :
                tag.equals(ADMIN) ? List.of("adminToken") : List.of("key", "keyHeader")) {
            operation.addSecurityRequirement(
                    OASFactory.createSecurityRequirement().addScheme(scheme));
        }
        if (ROUTED.contains(tag) && operation.getRequestBody() != null) {
            HINTS.forEach(name -> operation.addParameter(OASFactory.createParameter().ref(name)));
        }
        APIResponse error =
                OASFactory.createAPIResponse()
                        .ref(tag.equals("Messages") ? "AnthropicError" : "Error");
        operation.getResponses().setDefaultValue(error);
    }
}
