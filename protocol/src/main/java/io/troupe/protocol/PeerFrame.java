package io.troupe.protocol;

/** Messages between the members' inboxes. */
public sealed interface PeerFrame permits PeerEnvelope, PeerFragment, PeerFrame.Private {
  /** Internal messages: timers of the inbox. */
  non-sealed interface Private extends PeerFrame {}
}
