package io.warmpath.api.openapi;

import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
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
