package io.warmpath.wiring;

import io.warmpath.admission.Admission;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.WorkerFacts;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceReport;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.replica.ReplicaSync;
import io.warmpath.session.ControlledSession;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionTable;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.session.pin.PinRefusals;
import io.warmpath.tokens.model.ReloadedModel;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What the resources of {@code api.admin} need of a running gateway; {@link AdminBeans} gives it to
 * them.
 *
 * @param posted empty: no events are followed
 * @param idOnEngine what an engine calls a session that is there
 * @param pins empty: pins are off
 * @param replicas empty: each gateway for itself
 */
record AdminParts(
        AdminAccess access,
        FleetRegistry fleet,
        FleetSources sources,
        AddressGuard addresses,
        WorkerFacts workers,
        Admission admission,
        Supplier<List<ReloadedModel>> reload,
        Supplier<List<SourceReport>> eventSources,
        InstantSource clock,
        Optional<PostedFeed> posted,
        SessionTable sessions,
        ControlledSessions controlled,
        Function<ControlledSession.Place, String> idOnEngine,
        Optional<PinLedger> pins,
        PinRefusals refusals,
        Optional<ReplicaSync> replicas,
        DecisionLog decisions) {}
