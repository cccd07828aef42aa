package io.troupe.machine;

import io.troupe.model.Event;
import io.troupe.model.Result;
import java.util.List;

/**
 * What applying one operation came to. It may be told to anybody only after {@link
 * StateMachine#commit}.
 *
 * @param result the answer for whoever proposed it
 * @param revision store revision after it; events carry this one
 * @param events in sub-revision order, empty when no key changed; immutable
 * @param leaseChanges immutable
 */
public record Applied(
    Result result, long revision, List<Event> events, List<LeaseChange> leaseChanges) {}
