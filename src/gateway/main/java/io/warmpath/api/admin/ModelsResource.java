package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.warmpath.tokens.model.ReloadedModel;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Loads the models' files anew, and says of each what became of it. */
@Path("/models/reload")
@Produces(MediaType.APPLICATION_JSON)
public class ModelsResource {
    private final Supplier<List<ReloadedModel>> reload;

    /** {@code reload}: takes as long as loading does. */
    public ModelsResource(Supplier<List<ReloadedModel>> reload) {
        this.reload = reload;
    }

    /** {@code ok}: false when some model does not have the files that lie there now. */
    @Schema(name = "ModelsReload")
    public record Reload(boolean ok, List<Model> models) {}

    /**
     * @param models the names that share the files
     * @param problem why the files are not in use
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "ReloadedModel")
    public record Model(
            List<String> models, String files, String outcome, @Nullable String problem) {
        private static Model of(ReloadedModel model) {
            return new Model(
                    List.copyOf(model.models()),
                    model.files(),
                    model.outcome().name().toLowerCase(Locale.ROOT),
                    model.problem().isEmpty() ? null : model.problem());
        }
    }

    @POST
    @Operation(summary = "Loads the models' files anew and says of each what became of it")
    public Reload reload() {
        List<ReloadedModel> models = reload.get();
        return new Reload(
                models.stream().allMatch(model -> model.problem().isEmpty()),
                models.stream().map(Model::of).toList());
    }
}
